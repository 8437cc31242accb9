// Runs oauth2-mock-server on a free port of loopback: mock.mjs PACKAGE OPTIONS.
// PACKAGE is the folder that it is installed in, OPTIONS is JSON:
//   lifetime  of access tokens, in seconds
//   metadata  members of its metadata to change; null removes one
// It accepts every client, has no registration and no resource indicators, and
// its refresh tokens are not checked: this file puts the audience and the scopes
// that were asked for into tokens, and accepts each refresh token once. Prints the issuer when it is ready. GET
// /control/log lists the requests of clients so far. POST /control/next sets
// {"kind": "token"|"redirect", "times": N, "status": S, "body": B, "query": Q}:
// the next N answers of that kind are these. POST /control/revoke ends all logins.
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const [folder, json = '{}'] = process.argv.slice(2);
const options = JSON.parse(json);
const { OAuth2Server } = await import(pathToFileURL(`${folder}/node_modules/oauth2-mock-server/dist/index.mjs`).href);

const server = new OAuth2Server();
await server.issuer.keys.generate('RS256');
await server.start(0, '127.0.0.1');
const { issuer, service } = server;

const log = [], refresh = new Map(), scopes = new Map(), queue = { token: [], redirect: [] };
const lifetime = options.lifetime ?? 600;

service.addRoute('GET', '/control/log', (_, res) => res.end(JSON.stringify(log)));
service.addRoute('POST', '/control/revoke', (_, res) => { refresh.clear(); res.end('{}'); });
service.addRoute('POST', '/control/next', (req, res) => {
  for (let i = 0; i < (req.body.times ?? 1); i++) queue[req.body.kind].push(req.body);
  res.end('{}');
});

service.on('beforeWellKnownOpenIdConfiguration', answer => {
  answer.body.grant_types_supported.push('refresh_token');
  answer.body.scopes_supported = ['mcp:read', 'mcp:write', 'offline_access'];
  Object.assign(answer.body, options.metadata);
  for (const name in answer.body) if (answer.body[name] === null) delete answer.body[name];
});
const granted = ({ grant_type, code, refresh_token, scope }) =>
  grant_type === 'refresh_token' ? refresh.get(refresh_token) : scopes.get(code) ?? scope;
service.on('beforeTokenSigning', (token, req) => {
  token.payload.scope = granted(req.body);
  token.payload.aud = req.body.resource;
  token.payload.jti = randomUUID(); // two tokens of one second are not the same
  token.payload.exp = token.payload.iat + lifetime;
});
service.on('beforeResponse', (answer, req) => {
  const { grant_type, client_id, resource, scope, refresh_token } = req.body;
  const next = queue.token.shift();
  if (next) {
    answer.statusCode = next.status;
    answer.body = next.body;
  } else if (grant_type === 'refresh_token' && !refresh.has(refresh_token)) {
    answer.statusCode = 400;
    answer.body = { error: 'invalid_grant', error_description: 'the refresh token is not known' };
  } else {
    answer.body.expires_in = lifetime;
    answer.body.scope = granted(req.body);
    if (answer.body.refresh_token) refresh.set(answer.body.refresh_token, answer.body.scope);
    refresh.delete(refresh_token);
  }
  log.push({ method: req.method, path: '/token', status: answer.statusCode, error: answer.body.error, grant_type, client_id, resource, scope });
});
service.on('beforeAuthorizeRedirect', (redirect, req) => {
  const next = queue.redirect.shift();
  for (const [name, value] of Object.entries(next?.query ?? {})) {
    if (value === null) redirect.url.searchParams.delete(name);
    else redirect.url.searchParams.set(name, value);
  }
  const { client_id, resource, scope } = req.query;
  scopes.set(redirect.url.searchParams.get('code'), scope);
  log.push({ method: req.method, path: '/authorize', status: 302, client_id, resource, scope });
});
service.on('beforeRevoke', (_, req) => log.push({ method: req.method, path: '/revoke', status: 200 }));
console.log(issuer.url);
