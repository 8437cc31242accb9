"""Runs one prompt with the official SDK, as its documentation says, and writes
what became of it. The arguments are those of a job, as JSON."""

import asyncio
import datetime
import json
import sys

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ResultMessage,
    ToolAnnotations,
    create_sdk_mcp_server,
    query,
    tool,
)

job = json.loads(sys.argv[1])
outcome = {"Began": datetime.datetime.now(datetime.timezone.utc).isoformat(), "Text": "", "Err": "", "Calls": 0, "AtOnce": 0}
running = 0
met = asyncio.Event()


@tool(
    "add",
    "Adds two numbers.",
    {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
    annotations=ToolAnnotations(readOnlyHint=True),
)
async def add(args):
    global running
    outcome["Calls"] += 1
    running += 1
    outcome["AtOnce"] = max(outcome["AtOnce"], running)
    if running == 2:
        met.set()
    if job["meet"]:
        try:
            await asyncio.wait_for(met.wait(), 2)
        except asyncio.TimeoutError:
            pass
    running -= 1
    return {"content": [{"type": "text", "text": f"{args['a'] + args['b']:g}"}]}


async def main():
    allowed, options = [], {"model": job["model"], "system_prompt": job["system"], "tools": [], "cli_path": job["cli"]}
    if job["tools"]:
        options["mcp_servers"] = {"tools": create_sdk_mcp_server("tools", tools=[add])}
        allowed.append("mcp__tools__add")
    if job["agent"]:
        options["tools"] = ["Agent"]
        allowed.append("Agent")
    async for message in query(prompt=job["prompt"], options=ClaudeAgentOptions(allowed_tools=allowed, **options)):
        if isinstance(message, ResultMessage):
            outcome["Text"] = message.result or ""
            if message.is_error:
                outcome["Err"] = "the result is an error"


try:
    asyncio.run(asyncio.wait_for(main(), job["patience"]))
except BaseException as e:  # what the library raises is its outcome
    outcome["Err"] = outcome["Err"] or f"{type(e).__name__}: {e}"
with open(job["file"], "w") as f:
    json.dump(outcome, f)
