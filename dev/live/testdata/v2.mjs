// Lists and calls tools with version 2 of the TypeScript SDK:
// v2.mjs SDK CALLS legacy|auto|VERSION stdio|http|sse TARGET...
import { createRequire } from 'node:module';

const [sdk, calls, mode, transport, target, ...args] = process.argv.slice(2);
const require = createRequire(sdk + '/');
const { Client, StreamableHTTPClientTransport, SSEClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
const transports = {
  stdio: () => new StdioClientTransport({ command: target, args, env: process.env }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
};
const negotiation = mode === 'legacy' || mode === 'auto' ? mode : { pin: mode };
const client = new Client({ name: 'live', version: '2' }, { versionNegotiation: { mode: negotiation } });
await client.connect(transports[transport]());
const { tools } = await client.listTools();
const results = [];
for (const call of JSON.parse(calls)) results.push(await client.callTool(call));
console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion?.(), tools: tools.map(t => t.name), results }));
await client.close();
