package dialect

import (
	"maps"
	"path"
	"slices"

	"github.com/toolpost/toolpost"
)

// A Finding reports one place that breaks a rule.
type Finding struct {
	Tool    string // "" if it is about the list
	Rule    string // "claude-desktop/no-union"
	Effect  Effect
	Pointer string // from the tool's definition: /inputSchema/properties/id
	Keyword string
	Message string
	Off     string // the reason why the rule is switched off; "" if the finding counts

	Of *toolpost.Tool // the tool, which may share its name with others; nil if it is about the list
}

// Lint reports every place in tools that breaks a rule of d: tool by tool in
// source order, then the list as a whole.
func (d *Dialect) Lint(tools []*toolpost.Tool, opts *Options) []Finding {
	l := newLinter(d, sharedRules(), opts)
	var found []Finding
	for _, t := range tools {
		found = append(found, l.tool(t)...)
	}
	return append(found, l.list(tools)...)
}

// off returns the reason for which the rule of that id, such as
// "claude-desktop/no-union", is switched off; "" if it is not. A key of
// Options.Off is an id, a glob of ids such as "*/pattern", or a rule's name.
func (o *Options) off(id string) string {
	if o == nil {
		return ""
	}
	_, name := path.Split(id)
	for _, key := range slices.Sorted(maps.Keys(o.Off)) {
		if ok, err := path.Match(key, id); (ok && err == nil || key == name) && o.Off[key] != "" {
			return o.Off[key]
		}
	}
	return ""
}
