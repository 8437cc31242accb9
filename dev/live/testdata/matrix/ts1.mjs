// Version 1 of the TypeScript SDK, as a client of TestMatrix.
import { createRequire } from 'node:module';
import { answers, Events, prepared, run } from './steps.mjs';

const load = name => createRequire(prepared.library + '/')('@modelcontextprotocol/sdk/' + name);
const { Client } = load('client/index.js');
const types = load('types.js');
const [target, ...args] = prepared.target;
const transports = {
  stdio: () => new (load('client/stdio.js').StdioClientTransport)({ command: target, args, env: process.env }),
  http: () => new (load('client/streamableHttp.js').StreamableHTTPClientTransport)(new URL(target)),
  sse: () => new (load('client/sse.js').SSEClientTransport)(new URL(target)),
};

await run(async () => {
  if (!types.SUPPORTED_PROTOCOL_VERSIONS.includes(prepared.version)) throw new Error('unknown version');
  const client = new Client({ name: 'live', version: '1' }, { capabilities: { elicitation: {}, sampling: {}, roots: {} } });
  client.setRequestHandler(types.ElicitRequestSchema, r => answers.elicit(r.params));
  client.setRequestHandler(types.CreateMessageRequestSchema, r => answers.sample(r.params));
  client.setRequestHandler(types.ListRootsRequestSchema, answers.roots);
  const events = new Events();
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, n => events.add(n.params.uri));
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => events.add('tools'));
  client.setNotificationHandler(types.PromptListChangedNotificationSchema, () => events.add('prompts'));
  client.setNotificationHandler(types.ResourceListChangedNotificationSchema, () => events.add('resources'));
  const transport = transports[prepared.transport]();
  const negotiated = new Promise(resolve => (transport.setProtocolVersion = (set => v => (resolve(v), set?.call(transport, v)))(transport.setProtocolVersion)));
  await client.connect(transport);
  const version = await negotiated;
  const lists = { tools: () => client.listTools(), prompts: () => client.listPrompts(), resources: () => client.listResources() };
  return {
    events,
    version: () => version,
    names: async kind => (await lists[kind]())[kind].map(f => f.uri ?? f.name),
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    read: uri => client.readResource({ uri }),
    watch: uri => uri && client.subscribeResource({ uri }), // lists are watched in any case
    close: () => client.close(),
  };
});
