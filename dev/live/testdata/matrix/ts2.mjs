// Version 2 of the TypeScript SDK, as a client of TestMatrix.
import { createRequire } from 'node:module';
import { answers, Events, prepared, run } from './steps.mjs';

const require = createRequire(prepared.library + '/');
const { Client, StreamableHTTPClientTransport, SSEClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
const [target, ...args] = prepared.target;
const transports = {
  stdio: () => new StdioClientTransport({ command: target, args, env: process.env }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
};
const modern = prepared.version === '2026-07-28';

await run(async () => {
  const client = new Client(
    { name: 'live', version: '2' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode: modern ? { pin: prepared.version } : 'legacy' } },
  );
  client.setRequestHandler('elicitation/create', r => answers.elicit(r.params));
  client.setRequestHandler('sampling/createMessage', r => answers.sample(r.params));
  client.setRequestHandler('roots/list', answers.roots);
  const events = new Events();
  client.setNotificationHandler('notifications/resources/updated', n => events.add(n.params.uri));
  for (const kind of ['tools', 'prompts', 'resources']) {
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => events.add(kind));
  }
  await client.connect(transports[prepared.transport]());
  const lists = { tools: () => client.listTools(), prompts: () => client.listPrompts(), resources: () => client.listResources() };
  return {
    events,
    version: () => client.getNegotiatedProtocolVersion(),
    names: async kind => (await lists[kind]())[kind].map(f => f.uri ?? f.name),
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    read: uri => client.readResource({ uri }),
    watch: uri => {
      if (!modern) return uri && client.subscribeResource({ uri });
      const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      return client.listen(uri ? { resourceSubscriptions: [uri] } : lists);
    },
    close: () => client.close(),
  };
});
