package config

import (
	"encoding/json"

	"github.com/toolpost/toolpost"
)

// ToolChanges describe how the tools of one toolset are changed and selected. The zero
// value changes nothing.
type ToolChanges struct {
	Tools []ToolChange // in the order of the file

	// IncludeTags, unless it is empty, leaves only tools that have one of these
	// tags. ExcludeTags leaves out tools that have one of them. The tags of a
	// tool are those of its ToolChange, or else those that FastMCP writes into _meta.
	IncludeTags, ExcludeTags []string
}

// IsZero reports whether the block changes nothing.
func (b *ToolChanges) IsZero() bool {
	return len(b.Tools)+len(b.IncludeTags)+len(b.ExcludeTags) == 0
}

// A ToolChange describes how clients get one tool. Nil and empty fields leave the tool's
// own.
type ToolChange struct {
	Tool        string // the tool's own name
	Name        string
	Title       *string // "" for none
	Description *string // "" for none
	Tags        []string
	Disabled    bool                  // clients do not get the tool
	Annotations *toolpost.Annotations // instead of the tool's own
	Meta        json.RawMessage       // instead of the tool's _meta: an object, or null for none
	Arguments   []ArgumentChange      // in the order of the file
}

// An ArgumentChange describes how clients give one argument. Nil and empty fields
// leave the argument's own.
type ArgumentChange struct {
	Argument    string // its name in the tool's own schema
	Name        string
	Description *string         // "" for none
	Default     json.RawMessage // what the tool gets if the client gives no value; null is a value
	Hide        bool            // clients do not see the argument: the tool gets Default, or nothing
	Required    bool            // the client must give a value
	Type        json.RawMessage // of the schema: a string, or an array of strings
	Examples    json.RawMessage // of the schema
}
