// Runs oidc-provider on a free port of loopback: oidc.mjs PACKAGE OPTIONS.
// PACKAGE is the folder that it is installed in, OPTIONS is JSON:
//   lifetime   of access tokens, in seconds
//   opaque     access tokens that are introspected instead of verified
//   documents  client id metadata documents by their address
//   clients    pre-registered clients, in the form of dynamic registration
//   closed     there is no dynamic registration
// Prints the issuer when it is ready. GET /control/log lists the requests of
// clients so far; POST /control/revoke ends all logins, as an administrator may.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [folder, json = '{}'] = process.argv.slice(2);
const options = JSON.parse(json);
const { default: Provider } = await import(pathToFileURL(`${folder}/node_modules/oidc-provider/lib/index.js`).href);

const server = createServer();
await new Promise(listening => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const grants = new Map(); // what the adapters have stored, by grant
const stored = new Map();
class Memory {
  constructor(model) { this.model = model; }
  key(id) { return `${this.model}:${id}`; }
  async upsert(id, payload) {
    stored.set(this.key(id), payload);
    if (payload.grantId) grants.set(payload.grantId, [...grants.get(payload.grantId) ?? [], this.key(id)]);
  }
  async find(id) { return stored.get(this.key(id)); }
  async findByUid(uid) { return [...stored.entries()].find(([k, p]) => k.startsWith(`${this.model}:`) && p.uid === uid)?.[1]; }
  async findByUserCode(code) { return [...stored.entries()].find(([k, p]) => k.startsWith(`${this.model}:`) && p.userCode === code)?.[1]; }
  async consume(id) { stored.get(this.key(id)).consumed = Math.floor(Date.now() / 1000); }
  async destroy(id) { stored.delete(this.key(id)); }
  async revokeByGrantId(id) { for (const key of grants.get(id) ?? []) stored.delete(key); }
}

const provider = new Provider(issuer, {
  adapter: Memory,
  clients: [
    { client_id: 'resource-server', client_secret: 'introspects', redirect_uris: [], response_types: [], grant_types: [] },
    ...options.clients ?? [],
  ],
  clientBasedCORS: () => false,
  cookies: { keys: ['of a test'] },
  features: {
    clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: options.documents !== undefined, ack: 'draft-02' },
    deviceFlow: { enabled: true },
    introspection: { enabled: true },
    registration: { enabled: !options.closed },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        audience: resource, scope: 'mcp:read mcp:write', accessTokenTTL: options.lifetime ?? 600, accessTokenFormat: options.opaque ? 'opaque' : 'jwt',
      }),
    },
  },
  fetch: (url, init) => {
    const document = options.documents?.[url];
    return document ? Promise.resolve(Response.json(document)) : Promise.reject(new Error(`no request of ${url} from a test`));
  },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
});

const log = [];
provider.use(async (ctx, next) => {
  if (ctx.path === '/control/log') {
    ctx.body = log;
    return;
  }
  if (ctx.path === '/control/revoke') {
    stored.forEach((_, key) => /^(Grant|AccessToken|RefreshToken|Session):/.test(key) && stored.delete(key));
    ctx.body = {};
    return;
  }
  await next();
  const sent = ctx.oidc?.params ?? {};
  const { grant_type, client_id = ctx.oidc?.client?.clientId, resource, scope } = sent;
  log.push({ method: ctx.method, path: ctx.path, status: ctx.status, error: ctx.body?.error, error_description: ctx.body?.error_description, grant_type, client_id, resource, scope });
});
server.on('request', provider.callback());
console.log(issuer);
