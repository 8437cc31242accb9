// Package toolpost is the tool layer between every agent and every tool.
//
// A [Tool] is a definition and a handler. A [Toolset] lists tools. A layer takes a Toolset and
// returns one. A [Set] is a Toolset at one moment; it runs calls. A [Live] is the Set of now.
//
//	typed func ─ New ──▶ Tool ─┐
//	MCP server ─ upstream ─────┼─▶ Toolset ─ Prefix, Filter, Wrap, Map ─▶ Toolset
//	toolsets ─── Join ─────────┘                                             │
//	                           ┌────────────── NewSet, NewLive ◀─────────────┘
//	                           └──▶ Set.Call ◀── mcpserver, claude, agent, your program
//
// [Features], which are prompts and resources, pass the same layers. The tool that a layer
// returns is the route: its handler closes over the original name and session, so there is no
// routing table.
package toolpost

import (
	"context"
	"encoding/json"
)

// A Tool consists of a definition, the handler that runs it, and a policy for
// its calls. It must not be changed once a Toolset has listed it; layers change copies.
type Tool struct {
	Definition
	Handler Handler
	Policy  Policy
}

// A Handler runs one call, and is called concurrently. The model sees the error that it returns, unless the
// context has ended or the error is a [ProtocolError]. An error of [Outcome.Errorf] also
// determines what should happen next.
type Handler func(ctx context.Context, call *Call) (*Result, error)

// A Call is one request to run a tool. Its methods may be called concurrently.
type Call struct {
	ID        string          // the model's id of the call, if it gave one
	Session   string          // identifies the calls that belong together: the client's session, otherwise its identity; empty if unknown
	Name      string          // the tool's name as the caller knows it
	Arguments json.RawMessage // a JSON object; empty means {}

	// Params is the whole MCP params object of the call, if the call arrived
	// over MCP. It contains unknown members and _meta exactly as they were
	// sent.
	Params json.RawMessage

	Caller Caller // for messages to the caller; nil if there is none

	party  string // see hidden.Owner
	shared bool
}
