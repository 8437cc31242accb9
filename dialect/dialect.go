// Package dialect says what each client and model accepts as a tool, rewrites
// tools so that they fit, tells what that costs, and turns the arguments that
// come back into those of the original. The same rules are a linter.
//
//	targets/*.json ── Find, Choose ──▶ Dialect ── Adapt ──▶ tools for that reader, losses, what is withheld
//	configuration ──── Parse ────────────┘    └── Lint ───▶ findings, each of a Rule
//
// A dialect is data: a file in targets, or an overlay of one in a
// configuration. What a schema becomes is the work of schema/lower; names,
// descriptions and the list as a whole are adapted here.
package dialect

import "github.com/toolpost/toolpost/schema/lower"

// A Dialect is what one client or model accepts.
type Dialect struct {
	ID      string      `json:"-"`                 // "openai-strict": the file's name
	Title   string      `json:"title"`             // "OpenAI, strict function calling"
	Extends string      `json:"extends,omitempty"` // the dialect that this one starts from
	About   string      `json:"about,omitempty"`   // what is worth knowing, in a few sentences
	Clients []Client    `json:"clients,omitempty"` // who is served this dialect; none for models
	Input   lower.Rules `json:"input"`             // of input schemas
	Output  Output      `json:"output,omitzero"`
	Name    Name        `json:"name,omitzero"`
	Text    Text        `json:"text,omitzero"` // of the descriptions of tools and schemas
	List    List        `json:"list,omitzero"`
	Strict  *Strict     `json:"strict,omitempty"` // nil if the reader has no strict mode
	Sources []Source    `json:"sources"`          // the evidence
}

// A Client matches what a client says of itself. All that is set must match.
type Client struct {
	Name      string `json:"name,omitempty"`      // regular expression of the name in clientInfo
	UserAgent string `json:"userAgent,omitempty"` // regular expression of the HTTP header
	Since     string `json:"since,omitempty"`     // first version
	Before    string `json:"before,omitempty"`    // first version that it no longer holds for
}

// Output is what a reader takes as output schema.
type Output struct {
	Drop   bool        `json:"drop,omitempty"`   // none at all
	Object bool        `json:"object,omitempty"` // the type is "object", else it is left out
	Rules  lower.Rules `json:"rules,omitzero"`
}

// Name is what a reader takes as tool name.
type Name struct {
	Pattern string `json:"pattern,omitempty"` // regular expression
	Max     int    `json:"max,omitempty"`     // runes, with the reader's own prefix; 0 is any
	Prefix  string `json:"prefix,omitempty"`  // what the reader puts before it: "mcp__{server}__"
	Fold    string `json:"fold,omitempty"`    // characters outside this class are taken for _ when names are compared: "[A-Za-z0-9_-]"
}

// Text is what a reader takes as description.
type Text struct {
	Max       int    `json:"max,omitempty"`       // characters (UTF-16 units) of a tool's description; 0 is any
	SchemaMax int    `json:"schemaMax,omitempty"` // the same of a description inside a schema
	Lines     int    `json:"lines,omitempty"`
	Forbid    string `json:"forbid,omitempty"`   // characters
	Required  bool   `json:"required,omitempty"` // it must not be empty
}

// List is what a reader takes as a whole.
type List struct {
	Tools  int `json:"tools,omitempty"`  // 0 is any
	Tokens int `json:"tokens,omitempty"` // of all definitions, estimated
}

// Strict are the limits of a reader's strict mode, over a request; 0 is none.
type Strict struct {
	Tools      int `json:"tools,omitempty"`
	Optional   int `json:"optional,omitempty"`
	Unions     int `json:"unions,omitempty"`
	Properties int `json:"properties,omitempty"`
	EnumValues int `json:"enumValues,omitempty"`
	Runes      int `json:"runes,omitempty"`
}

// A Source is where a fact of the dialect was seen.
type Source struct {
	Rules    []string `json:"rules"`              // names of rules, such as "no-union"; none if it tells who the reader is
	Effect   Effect   `json:"effect,omitempty"`   // what the reader does
	Date     string   `json:"date"`               // 2026-11-21
	How      string   `json:"how"`                // "observed", "read", "documented", "recalled"
	Versions string   `json:"versions,omitempty"` // of the reader
	Source   string   `json:"source"`             // address, or what was run
	Note     string   `json:"note,omitempty"`     // the message or symptom
}

// An Effect is what a reader does with what it does not accept.
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
