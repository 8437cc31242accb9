package claude

import (
	"fmt"
	"strings"
)

// A ToolsRefusedError reports tools that the CLI would silently drop and that
// cannot be adapted. ServerOptions.SkipRefused leaves them out instead.
type ToolsRefusedError struct {
	Server string
	Tools  []Refusal
}

// A Refusal is one tool that the CLI would not accept.
type Refusal struct {
	Tool string
	Rule string // the broken rule of the dialect, such as "claude-code/name-length"
	Why  string
}

func (e *ToolsRefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "serve tools to the claude CLI as %q: it would not accept %d of them; change them, or leave them out with SkipRefused:", e.Server, len(e.Tools))
	for _, t := range e.Tools {
		fmt.Fprintf(&b, "\n%q: %s (%s)", t.Tool, t.Why, t.Rule)
	}
	return b.String()
}
