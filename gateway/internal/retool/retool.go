// Package retool changes tools as a configuration says: their names, texts and
// arguments. It reads nothing itself: package config reads FastMCP's "tools"
// block into a Block.
//
//	Toolset ─▶ Retooler.Apply ─▶ other definitions, to clients
//	           plan           ◀─ other arguments, from clients
//
// Definitions and arguments are edited as raw JSON: what a change does not
// concern keeps its bytes and its order.
package retool

import (
	"encoding/json"

	"github.com/toolpost/toolpost"
)

// A Block says how the tools of one toolset are changed and selected. The zero
// Block changes nothing.
type Block struct {
	Tools []Change // in the order of the file

	// IncludeTags, unless it is empty, leaves only tools that have one of these
	// tags. ExcludeTags leaves out tools that have one of them. The tags of a
	// tool are those of its Change, or else those that FastMCP writes into _meta.
	IncludeTags, ExcludeTags []string
}

// IsZero reports whether the block changes nothing.
func (b *Block) IsZero() bool {
	return len(b.Tools)+len(b.IncludeTags)+len(b.ExcludeTags) == 0
}

// A Change says how clients get one tool. Nil and empty fields leave the tool's
// own.
type Change struct {
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

// An ArgumentChange says how clients give one argument. Nil and empty fields
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
