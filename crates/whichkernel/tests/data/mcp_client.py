"""A real client of the Model Context Protocol: argv is the server; says what it got as one JSON object."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    said = {}
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        started = (await session.initialize()).model_dump(mode="json", by_alias=True)
        said["server"] = started["serverInfo"]["name"]
        said["version"] = started["protocolVersion"]
        tools = (await session.list_tools()).model_dump(mode="json", by_alias=True)["tools"]
        said["tools"] = {tool["name"]: tool for tool in tools}

        async def call(name, arguments):
            return (await session.call_tool(name, arguments)).model_dump(mode="json", by_alias=True)

        said["explain"] = await call("explain", {"words": ["9070xt", "Q4_K_M", "290"]})
        said["slip"] = await call("explain", {"words": ["9070xtt"]})
        said["unknown"] = await call("explain", {"record": True})
        said["check"] = await call("check", {})
        said["doctor"] = await call("doctor", {})
        said["self"] = await call("inspect", {"targets": [sys.argv[1]]})
        link = [part for part in said["check"]["content"] if part["type"] == "resource_link"][0]
        whole = (await session.read_resource(link["uri"])).model_dump(mode="json", by_alias=True)
        said["whole"] = json.loads(whole["contents"][0]["text"])["schema"]
        resources = (await session.list_resources()).model_dump(mode="json", by_alias=True)["resources"]
        said["resources"] = [resource["uri"] for resource in resources]
    print(json.dumps(said))


asyncio.run(main())
