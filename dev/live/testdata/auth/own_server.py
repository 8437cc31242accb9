# A FastMCP server with FastMCP's own authorization server, which is the one of the official
# Python SDK. Arguments: a port, and the lifetime of access tokens in seconds. It prints
# each renewal.
import sys

from fastmcp import FastMCP
from fastmcp.server.auth.providers import in_memory
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = int(sys.argv[2])


class Provider(in_memory.InMemoryOAuthProvider):
    async def exchange_refresh_token(self, client, refresh_token, scopes):
        token = await super().exchange_refresh_token(client, refresh_token, scopes)
        print("renewed", flush=True)
        return token


server = FastMCP(
    "tracker",
    auth=Provider(
        base_url="http://127.0.0.1:" + sys.argv[1],
        client_registration_options=ClientRegistrationOptions(enabled=True),
        revocation_options=RevocationOptions(enabled=True),
    ),
)


@server.tool
def read() -> str:
    return "read something"


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]))
