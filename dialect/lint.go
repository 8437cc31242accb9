package dialect

import "github.com/toolpost/toolpost"

// A Rule is one thing that a dialect may demand of a tool.
type Rule struct {
	Name   string // "no-union"; a finding's id has the dialect before it, or "all" if All is set
	All    bool   // it holds for every reader
	Effect Effect // where the dialect's sources do not tell
	What   string // what is demanded, one sentence
	Why    string // what goes wrong otherwise
	Fix    string // what to do about it, and what adapting does

	// Check reports where a tool breaks the rule under d. It reports nothing
	// if d does not demand it.
	Check func(d *Dialect, t *toolpost.Tool, report Reporter)
}

// A Reporter is told of one breach: where in the tool, a JSON pointer from
// its definition such as /inputSchema/properties/id, the keyword there, and
// what is wrong with it.
type Reporter func(pointer, keyword, detail string)

// A Finding is one broken rule.
type Finding struct {
	Tool    string // "" if it is about the list
	Rule    string // "claude-desktop/no-union"
	Effect  Effect
	Pointer string // from the tool's definition: /inputSchema/properties/id
	Keyword string
	Message string
}

// Lint reports what in tools breaks the rules of d, tool by tool, then the
// list as a whole.
func (d *Dialect) Lint(tools []*toolpost.Tool, opts *Options) []Finding { return nil }

// Rules returns all rules, sorted by name.
func Rules() []*Rule { return nil }
