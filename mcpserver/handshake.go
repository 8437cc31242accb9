package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// readInitialize reads the params of initialize.
func readInitialize(m *wire.Message, from observe.Client) (*peer, *wire.Error) {
	switch {
	case !wire.IsObject(m.Params):
		return nil, wire.Errorf(wire.CodeInvalidParams, "initialize: params must be an object")
	case len(m.Params) > maxInitialize:
		return nil, wire.Errorf(wire.CodeInvalidParams, "initialize: the params have %d bytes; the limit is %d", len(m.Params), maxInitialize)
	}
	version := wire.Get(m.Params, "protocolVersion")
	if !absent(version) && version[0] != '"' {
		return nil, wire.Errorf(wire.CodeInvalidParams, "initialize: protocolVersion must be a string")
	}
	agreed := wire.Unquote(version)
	if agreed >= wire.Stateless || !slices.Contains(wire.Versions, agreed) {
		agreed = wire.LastSession
	}
	return readPeer(agreed, wire.Get(m.Params, "clientInfo"), wire.Get(m.Params, "capabilities"), from, "initialize: ")
}

// initialize returns the answer to initialize, which describes what the client is
// served.
func (c *core) initialize(ctx context.Context, s *session, p *peer) (json.RawMessage, error) {
	c.awaitBegin(ctx, s.id)
	v, fault := c.views.of(p.client)
	if fault != nil {
		return nil, fault
	}
	c.relist(ctx, p.client, v, "")
	s.listener.begin()
	f := v.catalog.Load().features
	return wire.Append(nil, `"protocolVersion":"`+p.version+`"`, c.capabilities(f), `"serverInfo":`+string(c.introduction(v)), f.instructions()), nil
}

// discoverMethod describes the server (MCP 2026-07-28).
const discoverMethod = "server/discover"

// discover returns the answer to server/discover for the clients of a view.
func (c *core) discover(ctx context.Context, r *request) json.RawMessage {
	c.relist(ctx, r.client, r.view, "")
	f := r.view.catalog.Load().features
	return wire.Append(nil, `"resultType":"complete"`, `"supportedVersions":`+versionList(wire.Versions), c.capabilities(f), f.instructions(),
		cacheable, `"_meta":{`+serverInfo+`:`+string(c.introduction(r.view))+`}`)
}

func (f *features) instructions() string {
	if f.Instructions == "" {
		return ""
	}
	return `"instructions":` + string(wire.Quote(f.Instructions))
}

// capabilities returns what the server announces. A server that is still
// connecting may turn out to have everything.
func (f *features) capabilities() string {
	completions, features := "", ""
	if f.Incomplete || f.completes() {
		completions = `"completions":{}`
	}
	switch {
	case f.Incomplete || f.Subscribe != nil:
		features = `"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}`
	case f.of != nil:
		features = `"prompts":{"listChanged":true},"resources":{"listChanged":true}`
	}
	declared := strings.TrimSuffix(strings.TrimPrefix(string(f.declared), "{"), "}")
	return `"capabilities":` + string(wire.Append(nil, completions, `"logging":{}`, features, `"tools":{"listChanged":true}`, declared))
}

// readStateless reads what a request of 2026-07-28 says about itself in _meta.
func readStateless(m *wire.Message, from observe.Client) (*peer, *wire.Error) {
	switch {
	case m.Version == "":
		return nil, wire.Errorf(wire.CodeInvalidParams, "_meta needs %s", wire.MetaVersion)
	case m.Capabilities == nil:
		return nil, wire.Errorf(wire.CodeInvalidParams, "_meta needs %s", wire.MetaCapabilities)
	case !slices.Contains(wire.Versions, m.Version):
		return nil, unsupportedVersion(m.Version, wire.Versions)
	}
	return readPeer(m.Version, m.ClientInfo, m.Capabilities, from, "_meta: ")
}

func unsupportedVersion(version string, supported []string) *wire.Error {
	fault := wire.Errorf(wire.CodeUnsupportedProtocol, "version %.40q is not supported", version)
	fault.Data = json.RawMessage(`{"supported":` + versionList(supported) + `,"requested":` + string(wire.Quote(version)) + `}`)
	return fault
}

// versionList returns versions as a JSON array; none needs escapes.
func versionList(versions []string) string { return `["` + strings.Join(versions, `","`) + `"]` }
