// Package toolpost is the tool layer between every agent and every tool: it defines tools,
// toolsets, layers over them, and calls.
//
// A [Tool] is a definition and a handler. A [Toolset] supplies tools.
// Everything else in this module takes a Toolset and returns a Toolset, or
// carries one across a boundary:
//
//	typed func ─ New ──▶ Tool ─┐
//	MCP server ─ upstream ─────┼─▶ Toolset ─ Prefix, Filter, Wrap, Map ─▶ Toolset
//	toolsets ─── Join ─────────┘                                             │
//	                           ┌────────────── NewSet, NewLive ◀─────────────┘
//	                           └──▶ Set.Call ◀── mcpserver, claude, your program
//
// Prompts and resources pass the same layers, see [Toolset].
//
// The tool that a layer returns is the route: its handler closes over the
// original name and session, so there is no routing table.
package toolpost

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolpost/toolpost/schema"
)

// A Definition is the description of a tool that a model receives.
type Definition struct {
	Name        string
	Title       string
	Description string
	Input       *schema.Schema // never nil in a Set
	Output      *schema.Schema // nil if the structure of results is not declared
	Annotations Annotations
	Meta        json.RawMessage // the MCP _meta object, nil if none

	// Raw is the definition as a foreign server wrote it, if one did.
	// When the definition is encoded, the order of members and the members that
	// the fields above do not have (icons, execution…) come from Raw.
	Raw json.RawMessage
}

// Annotations are a tool's hints to clients (MCP 2026-07-28, ToolAnnotations).
// Nil means that the author made no statement. They are claims of the author,
// not facts.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// A Tool consists of a definition, the handler that runs it, and a policy for
// its calls.
type Tool struct {
	Definition
	Handler Handler
	Policy  Policy
}

// A Handler runs one call. The model sees the error that it returns, unless the
// context has ended or the error is a [ProtocolError]. An error of [Outcome.Errorf] also
// determines what should happen next.
type Handler func(ctx context.Context, call *Call) (*Result, error)

// A Policy determines how a tool's calls run.
type Policy struct {
	Timeout time.Duration // limit for one call; 0 means none

	// Approve, if set, is called before the handler, after the arguments are
	// validated. An error denies the call; the model sees its text.
	Approve func(ctx context.Context, call *Call) error

	// Prepare, if set, rewrites the arguments before they are validated and
	// approved, for example names and types that models confuse.
	Prepare func(arguments json.RawMessage) json.RawMessage

	// SkipValidation leaves validation of the arguments to the tool's source.
	// Foreign servers often accept more than their schemas say.
	SkipValidation bool

	// Sequential has an agent run the call alone: earlier calls of the same
	// message have ended, and later ones have not begun.
	Sequential bool

	// Resumable lets an agent run a call again that the end of the process
	// interrupted: the tool continues it where it was.
	Resumable bool

	// Polled means that callers call the tool again and again, such as to wait for a
	// change. Its calls are logged at debug level, and an agent does not end a run
	// because the model repeats them.
	Polled bool

	Unlisted bool // the tool can be called, but lists for clients leave it out

	// MaxOutput is the number of characters of a result that the model receives
	// in full. 0 means the default limit; -1 means that the tool limits its
	// output itself.
	MaxOutput int
}

// A Call is one request to run a tool.
type Call struct {
	ID        string          // the model's id of the call, if it gave one
	Owner                     // who made it
	Name      string          // the tool's name as the caller knows it
	Arguments json.RawMessage // a JSON object; empty means {}

	// Params is the whole MCP params object of the call, if the call arrived
	// over MCP. It contains unknown members and _meta exactly as they were
	// sent.
	Params json.RawMessage

	Caller Caller // for messages to the caller; nil if there is none
}

// An Owner is the client that made a call. Compare the Session.
type Owner struct {
	Session string // identifies the calls that belong together: the session, otherwise the caller's identity; empty if unknown
	Party   string // identifies the client across its sessions: its user, credential or address, and its name; empty if unknown
	Shared  bool   // other clients may have the same Session: the call is not part of a session of its client
}
