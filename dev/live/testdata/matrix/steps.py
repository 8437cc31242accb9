"""The steps of TestMatrix for clients in Python, and what their adapters share.

An adapter has names, call and read, and subscribe and listen of its library.
"""

import json
import sys
import warnings
from contextlib import AsyncExitStack

import anyio

prepared = json.loads(sys.argv[1])  # what TestMatrix wants of this process
modern = prepared["version"] == "2026-07-28"
kinds = ("tools", "prompts", "resources")
warnings.simplefilter("ignore")  # the libraries deprecate what only the older versions have


# Answers to what servers ask. They quote the question, so that a result shows
# that both directions work.
def name(params):
    return {"name": f"Ada ({params.message})"}


def completion(messages):
    content = messages[0].content
    return f"answer to {content[0].text if isinstance(content, list) else content.text}"


class Events:
    """The notifications so far, and whoever waits for one."""

    def __init__(self):
        self.all, self.wake = [], anyio.Event()

    def add(self, event):
        self.all.append(event)
        self.wake.set()
        self.wake = anyio.Event()

    def add_message(self, message):
        """Adds a notification, or an event of subscriptions/listen."""
        kind = type(message).__name__
        if kind == "ResourceUpdated":
            self.add(message.uri)
        elif kind == "ResourceUpdatedNotification":
            self.add(str(message.params.uri))
        elif "ListChanged" in kind:
            singular = kind.split("List")[0].lower().removesuffix("s")
            self.add(singular + "s")

    async def until(self, event):
        """Waits for an event, and forgets it."""
        while event not in self.all:
            await self.wake.wait()
        self.all = [e for e in self.all if e != event]


def names(features):
    return [str(getattr(f, "uri", f.name)) for f in features]


def text(result):
    return "".join(c.text for c in result.content)


async def cancel(client, server):
    outcome = []
    async with anyio.create_task_group() as group:

        async def on_progress(progress, total, message):
            group.cancel_scope.cancel()

        async def wait():
            try:
                outcome.append(text(await client.call(server + "__wait", {}, on_progress)))
            except anyio.get_cancelled_exc_class():
                outcome.append("rejected")
                raise

        group.start_soon(wait)
    return outcome + [text(await client.call(server + "__canceled", {}))]


async def progress(client, server):
    steps, seen = [], anyio.Event()

    async def on_progress(progress, total, message):
        steps.append([progress, total, message])
        if progress == total:
            seen.set()

    async with anyio.create_task_group() as group:

        async def resume():
            await seen.wait()
            await client.call(server + "__resume", {})

        group.start_soon(resume)
        result = await client.call(server + "__count", {}, on_progress)
    return steps + [text(result)]


async def subscribe(client, server):
    uri = f"live://{server}/clock"
    await client.watch(uri)
    await client.call(server + "__touch", {})
    await client.events.until(uri)
    return await client.read(uri)


async def changed(client, server):
    await client.watch()
    client.events.all = []
    await client.call(server + "__grow", {})
    grown = {}
    for kind in kinds:
        while not grown.get(kind):
            await client.events.until(kind)
            grown[kind] = [n for n in await client.names(kind) if server in n and n.endswith("grown")]
    return grown


async def tools(client, server):
    while not (names := [n for n in await client.names("tools") if n.startswith(server + "__")]):
        await anyio.sleep(0.05)  # the gateway still connects to the server
    return sorted(names)


def calls(tool, **arguments):
    async def step(client, server):
        return text(await client.call(f"{server}__{tool}", arguments))

    return step


steps = {
    "list": tools,
    "call": calls("echo", text="hi"),
    "elicit": calls("elicit"),
    "sample": calls("sample"),
    "roots": calls("roots"),
    "progress": progress,
    "cancel": cancel,
    "subscribe": subscribe,
    "changed": changed,
}


def write(**line):
    print(json.dumps(line), flush=True)


class Adapter:
    """A connected client. Its streams of changes end with the steps."""

    def __init__(self, client, events, group, stack):
        self.client, self.events, self.group, self.stack = client, events, group, stack

    async def watch(self, uri=None):
        """Watches a resource, or all lists, which the older versions do in any case."""
        if not modern:
            if uri:
                await self.subscribe(uri)
            return
        lists = {kind + "_list_changed": True for kind in kinds}
        wanted = {"resource_subscriptions": [uri]} if uri else lists
        subscription = await self.stack.enter_async_context(self.listen(**wanted))

        async def pump():
            async for event in subscription:
                self.events.add_message(event)

        self.group.start_soon(pump)


async def run(client):
    """Makes all steps with all servers, and writes one line for each."""
    for step, make in steps.items():
        for server in prepared["servers"]:
            try:
                with anyio.fail_after(prepared["patience"] / 1000):
                    write(server=server, step=step, got=await make(client, server))
            except Exception as e:  # whatever it is, it belongs to this step
                write(server=server, step=step, error=repr(e))


def main(connect, adapt):
    """Connects a client and runs the steps with what adapt makes of it."""

    async def start():
        events, connected = Events(), False

        async def on_message(message):
            if not modern:  # in the newest version, a stream of listen has them
                events.add_message(message)

        try:
            async with connect(on_message) as client, anyio.create_task_group() as group, AsyncExitStack() as stack:
                connected = True
                write(step="connect", got=client.protocol_version)
                await run(adapt(client, events, group, stack))
                group.cancel_scope.cancel()
        except Exception as e:
            if connected:
                raise
            write(step="connect", error=repr(e))

    anyio.run(start)
