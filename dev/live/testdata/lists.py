# Lists everything, and calls tools, with the Python SDK: lists.py CALLS URL...
# A line for each address.
import asyncio, json, sys
from mcp.client.session import ClientSession
try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:  # version 1
    from mcp.client.streamable_http import streamablehttp_client as streamable_http_client

LISTS = (("list_tools", "tools", "name"), ("list_prompts", "prompts", "name"),
         ("list_resources", "resources", "uri"), ("list_resource_templates", "resource_templates", "uri_template"))
CAMEL = {"resource_templates": "resourceTemplates", "uri_template": "uriTemplate"}


def get(item, name):
    return getattr(item, name) if hasattr(item, name) else getattr(item, CAMEL[name])


async def ask(url, calls):
    answer = {"url": url, "errors": {}, "names": {}}
    try:
        async with streamable_http_client(url) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await asyncio.wait_for(session.initialize(), 30)
                for method, key, name in LISTS:
                    try:
                        result = await asyncio.wait_for(getattr(session, method)(), 30)
                        answer["names"][CAMEL.get(key, key)] = [str(get(item, name)) for item in get(result, key)]
                    except Exception as e:
                        answer["errors"][CAMEL.get(key, key)] = (type(e).__name__ + " " + str(e))[:400]
                answer["read"] = []
                for uri in answer["names"].get("resources", []):
                    try:
                        result = await asyncio.wait_for(session.read_resource(uri), 30)
                        answer["read"] += [c.text for c in result.contents]
                    except Exception as e:
                        answer["read"].append((type(e).__name__ + " " + str(e))[:400])
                for call in calls:
                    try:
                        result = await asyncio.wait_for(session.call_tool(call["name"], call["arguments"]), 30)
                        answer["last"] = result.content[0].text if result.content else ""
                    except Exception as e:
                        answer["last"] = (type(e).__name__ + " " + str(e))[:400]
    except BaseException as e:
        if not answer.get("last"):
            answer["errors"]["connect"] = (type(e).__name__ + " " + str(e))[:400]
    print(json.dumps(answer), flush=True)


async def main():
    for url in sys.argv[2:]:
        await ask(url, json.loads(sys.argv[1].replace("SERVER", url[url.rindex("/p") + 2:])))


asyncio.run(main())
