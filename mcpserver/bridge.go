package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// bridgeTime is how long a client that connects to a bridge waits for the server
// behind it. Clients give up after 30 s or more.
const bridgeTime = 20 * time.Second

// maxInfo is how many bytes a server may say about itself: clients of 2026-07-28
// get them with every result.
const maxInfo = 64 << 10

// validInfo returns the description of a server, nil if clients would refuse
// it.
func validInfo(info json.RawMessage) json.RawMessage {
	if len(info) > maxInfo || !wire.IsObject(info) {
		return nil
	}
	for _, name := range []string{"name", "version"} {
		if v := wire.Get(info, name); len(v) <= len(`""`) || v[0] != '"' {
			return nil
		}
	}
	return info
}

// introduction returns the name and version that clients of a view see.
func (c *core) introduction(v *view) json.RawMessage {
	if c.ownName {
		if info := v.catalog.Load().info; info != nil {
			return info
		}
	}
	return c.info
}

// awaitBegin makes the first request of a client wait for the servers, a short
// time. A bridge waits longer: without its server, it does not know what it is.
func (c *core) awaitBegin(ctx context.Context, client string) {
	limit := initializeTime
	if c.opts.Bridge {
		limit = bridgeTime
	}
	c.ready.await(ctx, "begin "+client, limit)
}

// capabilities returns what is announced. Of MCP's own capabilities, a bridge
// has those of its server, once that is known.
func (c *core) capabilities(f *features) string {
	if !c.opts.Bridge || f.Incomplete || f.ServerCapabilities == nil {
		return f.capabilities()
	}
	announced := wire.Get([]byte("{"+f.capabilities()+"}"), "capabilities")
	return `"capabilities":` + string(wire.Edit(announced, func(name string, value json.RawMessage) json.RawMessage {
		if slices.Contains(ownCapabilities, name) && !wire.IsObject(wire.Get(f.ServerCapabilities, name)) {
			return nil
		}
		return value
	}))
}

// ownCapabilities are MCP's own. The others belong to extensions.
var ownCapabilities = []string{"completions", "logging", "prompts", "resources", "tools"}
