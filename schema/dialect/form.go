package dialect

import "github.com/toolpost/toolpost/schema/internal/lower"

// A form is a dialect as JSON.
type form struct {
	Title   string        `json:"title"`
	Extends string        `json:"extends,omitempty"` // the dialect that this one is based on
	About   string        `json:"about,omitempty"`
	Clients []Client      `json:"clients,omitempty"`
	Input   lower.Rules   `json:"input"` // of input schemas
	Output  outputForm    `json:"output,omitzero"`
	Name    nameLimits    `json:"name,omitzero"`
	Text    textLimits    `json:"text,omitzero"` // of the descriptions of tools and schemas
	List    listLimits    `json:"list,omitzero"`
	Strict  *strictLimits `json:"strict,omitempty"` // nil if the reader has no strict mode
	Sources []Source      `json:"sources"`          // the evidence
	Defers  bool          `json:"defers,omitempty"`
}

// newDialect returns the dialect that f describes.
func newDialect(id string, f form) *Dialect {
	return &Dialect{ID: id, Title: f.Title, About: f.About, Clients: f.Clients, Defers: f.Defers, form: f}
}

// An outputForm describes which output schemas a reader accepts.
type outputForm struct {
	Drop   bool        `json:"drop,omitempty"`   // none at all
	Object bool        `json:"object,omitempty"` // the type must be "object", otherwise the schema is left out
	Rules  lower.Rules `json:"rules,omitzero"`
}

// nameLimits describe which tool names a reader accepts.
type nameLimits struct {
	Pattern string `json:"pattern,omitempty"` // regular expression
	Max     int    `json:"max,omitempty"`     // runes, including the reader's own prefix; 0 means no limit
	Prefix  string `json:"prefix,omitempty"`  // the prefix that the reader adds: "mcp__{server}__"
	Fold    string `json:"fold,omitempty"`    // characters outside of this class count as _ when names are compared: "[A-Za-z0-9_-]"
}

// textLimits describe which descriptions a reader accepts.
type textLimits struct {
	Max       int    `json:"max,omitempty"`       // characters (UTF-16 units) of a tool's description; 0 means no limit
	SchemaMax int    `json:"schemaMax,omitempty"` // the same for a description inside a schema
	Lines     int    `json:"lines,omitempty"`
	Forbid    string `json:"forbid,omitempty"`   // forbidden characters
	Required  bool   `json:"required,omitempty"` // it must not be empty
}

// listLimits are those of the list of tools.
type listLimits struct {
	Tools  int `json:"tools,omitempty"`  // 0 means no limit
	Tokens int `json:"tokens,omitempty"` // of all definitions, estimated
}

// strictLimits are those of a reader's strict mode for one request; 0 means no limit.
type strictLimits struct {
	Tools      int `json:"tools,omitempty"`
	Optional   int `json:"optional,omitempty"`
	Unions     int `json:"unions,omitempty"`
	Properties int `json:"properties,omitempty"`
	EnumValues int `json:"enumValues,omitempty"`
	Runes      int `json:"runes,omitempty"`
}
