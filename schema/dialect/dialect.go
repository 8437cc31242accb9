// Package dialect describes what each client and model accepts as a tool, adapts tools to
// them, and has the rules of the linter. It reports what an adapted tool loses, and
// converts the arguments of calls back to those of the original.
//
//	targets/*.json ── Find, Choose ──▶ Dialect ── Adapt ──▶ tools for that client, losses, withheld tools
//	configuration ─── NewBook ────────────┘    └── Lint ───▶ findings, each of a Rule
//
// A dialect is data: a file in targets, or one that a configuration adds or
// changes. Package lower rewrites schemas; this package adapts names,
// descriptions, the list as a whole, and the arguments of calls.
package dialect

import "github.com/toolpost/toolpost/schema/internal/lower"

// A Dialect describes what one client or model accepts.
type Dialect struct {
	ID      string      `json:"-"`                 // "openai-strict": the file's name
	Title   string      `json:"title"`             // "OpenAI, strict function calling"
	Extends string      `json:"extends,omitempty"` // the dialect that this one is based on
	About   string      `json:"about,omitempty"`   // a description in a few sentences
	Clients []Client    `json:"clients,omitempty"` // the clients that get this dialect; none for models
	Input   lower.Rules `json:"input"`             // of input schemas
	Output  Output      `json:"output,omitzero"`
	Name    Name        `json:"name,omitzero"`
	Text    Text        `json:"text,omitzero"` // of the descriptions of tools and schemas
	List    List        `json:"list,omitzero"`
	Strict  *Strict     `json:"strict,omitempty"` // nil if the reader has no strict mode
	Sources []Source    `json:"sources"`          // the evidence

	// Defers reports that the client itself keeps the definitions of tools out of
	// the model's context until the model searches for them.
	Defers bool `json:"defers,omitempty"`

	compiled func() *patterns // nil if it was not read by a Book
}

// A Client selects clients by what they report about themselves. All non-empty
// fields must match.
type Client struct {
	Name      string `json:"name,omitempty"`      // regular expression of the name in clientInfo
	UserAgent string `json:"userAgent,omitempty"` // regular expression of the HTTP header
	Since     string `json:"since,omitempty"`     // first version
	Before    string `json:"before,omitempty"`    // first version that is too new
}

// Output describes which output schemas a reader accepts.
type Output struct {
	Drop   bool        `json:"drop,omitempty"`   // none at all
	Object bool        `json:"object,omitempty"` // the type must be "object", otherwise the schema is left out
	Rules  lower.Rules `json:"rules,omitzero"`
}

// Name describes which tool names a reader accepts.
type Name struct {
	Pattern string `json:"pattern,omitempty"` // regular expression
	Max     int    `json:"max,omitempty"`     // runes, including the reader's own prefix; 0 means no limit
	Prefix  string `json:"prefix,omitempty"`  // the prefix that the reader adds: "mcp__{server}__"
	Fold    string `json:"fold,omitempty"`    // characters outside of this class count as _ when names are compared: "[A-Za-z0-9_-]"
}

// Text describes which descriptions a reader accepts.
type Text struct {
	Max       int    `json:"max,omitempty"`       // characters (UTF-16 units) of a tool's description; 0 means no limit
	SchemaMax int    `json:"schemaMax,omitempty"` // the same for a description inside a schema
	Lines     int    `json:"lines,omitempty"`
	Forbid    string `json:"forbid,omitempty"`   // forbidden characters
	Required  bool   `json:"required,omitempty"` // it must not be empty
}

// List limits the list of tools.
type List struct {
	Tools  int `json:"tools,omitempty"`  // 0 means no limit
	Tokens int `json:"tokens,omitempty"` // of all definitions, estimated
}

// Strict contains the limits of a reader's strict mode for one request; 0 means
// no limit.
type Strict struct {
	Tools      int `json:"tools,omitempty"`
	Optional   int `json:"optional,omitempty"`
	Unions     int `json:"unions,omitempty"`
	Properties int `json:"properties,omitempty"`
	EnumValues int `json:"enumValues,omitempty"`
	Runes      int `json:"runes,omitempty"`
}

// A Source is the evidence for a fact of the dialect.
type Source struct {
	Rules    []string `json:"rules"`              // names of rules, such as "no-union"; none if it is evidence of the reader's identity
	Effect   Effect   `json:"effect,omitempty"`   // what the reader does
	Date     string   `json:"date"`               // 2026-11-21
	How      string   `json:"how"`                // "observed", "read", "documented", "recalled"
	Versions string   `json:"versions,omitempty"` // of the reader
	Source   string   `json:"source"`             // an address, or the command that was run
	Note     string   `json:"note,omitempty"`     // the message or symptom
}

// An Effect is a reader's reaction to something that it does not accept.
type Effect string

// The effects, from worst to mildest.
const (
	KillsSession  Effect = "loses all tools of the session"
	KillsServer   Effect = "loses all tools of the server"
	RefusesCall   Effect = "the request is refused"
	DropsTool     Effect = "the tool is dropped"
	BreaksCall    Effect = "calls of the tool fail"
	LosesSilently Effect = "a part is silently lost"
	Truncates     Effect = "the text is cut"
	Rewrites      Effect = "the reader rewrites it"
	Advice        Effect = "advice"
)
