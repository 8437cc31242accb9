"""The Python package mcp, as a client of TestMatrix."""

import os

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client

from steps import Adapter, completion, main, modern, name, names, prepared

target, *args = prepared["target"]
transports = {
    "stdio": lambda: StdioServerParameters(command=target, args=args, env=dict(os.environ)),
    "http": lambda: target,
    "sse": lambda: sse_client(target),
}


async def elicit(context, params):
    return types.ElicitResult(action="accept", content=name(params))


async def sample(context, params):
    content = types.TextContent(type="text", text=completion(params.messages))
    return types.CreateMessageResult(role="assistant", model="live", content=content)


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///live", name="live")])


class MCPAdapter(Adapter):
    async def names(self, kind):
        return names(getattr(await getattr(self.client, "list_" + kind)(), kind))

    async def call(self, tool, arguments, on_progress=None):
        return await self.client.call_tool(tool, arguments, progress_callback=on_progress)

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text

    async def subscribe(self, uri):
        await self.client.subscribe_resource(uri)

    def listen(self, **wanted):
        return self.client.listen(**wanted)


def connect(on_message):
    return Client(
        transports[prepared["transport"]](),
        mode=prepared["version"] if modern else "legacy",
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        message_handler=on_message,
        cache=None,
    )


main(connect, MCPAdapter)
