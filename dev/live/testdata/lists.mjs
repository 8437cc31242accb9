// Lists everything, and calls tools, with one version of the TypeScript SDK:
// lists.mjs 1|legacy|2026-07-28 SDK CALLS URL... A line for each address.
import { createRequire } from 'node:module';

const [mode, sdk, calls, ...urls] = process.argv.slice(2);
console.warn = console.error = () => {};
const require = createRequire(sdk + '/');
let Client, Transport, options;
if (mode === '1') {
  ({ Client } = require('@modelcontextprotocol/sdk/client/index.js'));
  ({ StreamableHTTPClientTransport: Transport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js'));
} else {
  ({ Client, StreamableHTTPClientTransport: Transport } = require('@modelcontextprotocol/client'));
  options = { versionNegotiation: { mode: mode === 'legacy' ? mode : { pin: mode } } };
}
const limit = { timeout: 30_000 };
for (const url of urls) {
  const answer = { url, errors: {}, names: {} };
  try {
    const client = new Client({ name: 'live', version: '1' }, options);
    await client.connect(new Transport(new URL(url)), limit);
    for (const [method, key, name] of [
      ['listTools', 'tools', 'name'], ['listPrompts', 'prompts', 'name'],
      ['listResources', 'resources', 'uri'], ['listResourceTemplates', 'resourceTemplates', 'uriTemplate'],
    ]) {
      try {
        answer.names[key] = (await client[method](undefined, limit))[key].map(item => item[name]);
      } catch (e) {
        answer.errors[key] = String(e.message).slice(0, 400);
      }
    }
    answer.read = [];
    for (const uri of answer.names.resources ?? []) {
      try {
        answer.read.push(...(await client.readResource({ uri }, limit)).contents.map(c => c.text));
      } catch (e) {
        answer.read.push(String(e.message).slice(0, 400));
      }
    }
    for (const call of JSON.parse(calls.replaceAll('SERVER', url.slice(url.lastIndexOf('/p') + 2)))) {
      try {
        const result = await client.callTool(call, ...(mode === '1' ? [undefined, limit] : [limit]));
        answer.last = result.content?.[0]?.text;
      } catch (e) {
        answer.last = String(e.message).slice(0, 400);
      }
    }
    await client.close();
  } catch (e) {
    answer.errors.connect = String(e.message).slice(0, 400);
  }
  console.log(JSON.stringify(answer));
}
process.exit(0);
