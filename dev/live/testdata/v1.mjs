// Lists and calls tools with version 1 of the TypeScript SDK:
// v1.mjs SDK CALLS stdio|http|sse TARGET...
import { createRequire } from 'node:module';

const [sdk, calls, transport, target, ...args] = process.argv.slice(2);
const load = name => createRequire(sdk + '/')('@modelcontextprotocol/sdk/client/' + name);
const { Client } = load('index.js');
const transports = {
  stdio: () => new (load('stdio.js').StdioClientTransport)({ command: target, args, env: process.env }),
  http: () => new (load('streamableHttp.js').StreamableHTTPClientTransport)(new URL(target)),
  sse: () => new (load('sse.js').SSEClientTransport)(new URL(target)),
};
const client = new Client({ name: 'live', version: '1' });
await client.connect(transports[transport]());
const { tools } = await client.listTools();
const results = [];
for (const call of JSON.parse(calls)) results.push(await client.callTool(call));
console.log(JSON.stringify({ tools: tools.map(t => t.name), results }));
await client.close();
