// Package toolpost is the tool layer between every agent and every tool.
//
// A [Tool] is a definition and a handler. A [Toolset] supplies tools.
// Everything else in this module takes a Toolset and gives back a Toolset,
// or carries one across a boundary:
//
//	typed func ─ New ──▶ Tool ─┐
//	MCP server ─ upstream ─────┼─▶ Toolset ─ Prefix, Filter, Rename, Map ─▶ Toolset
//	                           │                                             │
//	                           │              NewSet, NewLive ◀──────────────┘
//	                           └──────▶ Set.Call ◀── mcpserver, claude, agent
//
// The tool that a layer returns is the route: its handler closes over the
// original name and session, so there is no routing table.
package toolpost

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/toolpost/toolpost/schema"
)

// A Definition is what a model is told about a tool.
type Definition struct {
	Name        string
	Title       string
	Description string
	Input       *schema.Schema // never nil in a Set
	Output      *schema.Schema // nil if results have no declared structure
	Annotations Annotations
	Meta        json.RawMessage // the MCP _meta object, nil if none

	// Source is the definition as a foreign source wrote it, if one did.
	// Members that the fields above do not know (icons, execution…) and
	// the order of members are taken from it when the definition is encoded.
	Source json.RawMessage
}

// Annotations are a tool's hints to clients (MCP 2026-07-28, ToolAnnotations).
// Nil means "not said". They are claims of the tool's author, not facts.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// A Tool is a definition, the handler that runs it, and how it may run.
type Tool struct {
	Definition
	Handler Handler
	Policy  Policy
}

// A Handler runs one call. An error it returns is shown to the model, unless
// the context ended or the error is a [ProtocolError]; see [Retry], [Failed],
// [Denied] and [Complete] for errors that say what should happen next.
type Handler func(ctx context.Context, call *Call) (*Result, error)

// A Policy says how a tool's calls run.
type Policy struct {
	Timeout time.Duration // longest run of one call; 0 means none

	// Approve, if set, is asked before the handler runs, after the arguments
	// are validated. An error denies the call; the model sees its text.
	Approve func(ctx context.Context, call *Call) error

	// Prepare, if set, rewrites the arguments before they are validated and
	// approved, such as names and types that models mix up.
	Prepare func(arguments json.RawMessage) json.RawMessage

	// Unchecked leaves validation of the arguments to the tool's source.
	// Foreign servers often accept more than their schemas say.
	Unchecked bool

	Quiet bool // calls are not logged at info level: the tool is polled

	// MaxOutput is how many characters of a result reach the model whole; 0
	// means the reader's own limit, -1 that the tool keeps to one itself.
	MaxOutput int
}

// A Call is one request to run a tool.
type Call struct {
	ID        string          // the model's id for the call, if it gave one
	Session   string          // whose calls belong together: a session, else the caller's identity; empty if unknown
	Client    string          // the caller without its credential, if only that makes the Session; else empty
	Shared    bool            // other clients may have the same Session: this call belongs to no session of its client
	Name      string          // the tool's name, as the caller knows it
	Arguments json.RawMessage // a JSON object; empty means {}

	// Params is the whole MCP params object the call arrived in, if it did:
	// unknown members and _meta are found here, exactly as sent.
	Params json.RawMessage

	Caller Caller // the way back to the caller; nil if there is none

	// Keep takes a text that is too long for memory, one of so many in a result
	// that may tell a failure, and returns what the caller is shown in its place
	// and the reference to the whole. Nil if nobody keeps.
	Keep func(ctx context.Context, text io.Reader, of int, failed bool) (view, ref string, err error)
}

// Holder is for whom a reference is good that a tool hands out: the session, or
// the caller, which it stays when its credential is renewed. Callers that only
// their credentials tell apart have the same: it is for references that nobody
// can guess and nothing lists, so that who has one was given it. All else is for
// the Session.
func (c *Call) Holder() string { return cmp.Or(c.Client, c.Session) }
