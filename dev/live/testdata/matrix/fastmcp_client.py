"""The Python package fastmcp, as a client of TestMatrix."""

import os

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from mcp.client import subscriptions

from steps import Adapter, completion, main, modern, name, names, prepared

target, *args = prepared["target"]
transports = {
    "stdio": lambda: StdioTransport(command=target, args=args, env=dict(os.environ), keep_alive=False),
    "http": lambda: StreamableHttpTransport(target),
    "sse": lambda: SSETransport(target),
}


async def elicit(message, response_type, params, context):
    return name(params)


async def sample(messages, params, context):
    return completion(messages)


class FastMCPAdapter(Adapter):
    """fastmcp has no subscriptions of its own: they are those of its session."""

    async def names(self, kind):
        return names(await getattr(self.client, "list_" + kind)())

    async def call(self, tool, arguments, on_progress=None):
        return await self.client.call_tool(tool, arguments, progress_handler=on_progress)

    async def read(self, uri):
        return (await self.client.read_resource(uri))[0].text

    async def subscribe(self, uri):
        await self.client.session.subscribe_resource(uri)

    def listen(self, **wanted):
        return subscriptions.listen(self.client.session, **wanted)


def connect(on_message):
    return Client(
        transports[prepared["transport"]](),
        mode=prepared["version"] if modern else "legacy",
        elicitation_handler=elicit,
        sampling_handler=sample,
        roots=["file:///live"],
        message_handler=on_message,
        cache=False,
    )


main(connect, FastMCPAdapter)
