package claude

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/schema/dialect"
)

// A ToolsRefusedError reports tools that the CLI would silently drop and that
// cannot be adapted. ServerOptions.SkipRefused leaves them out instead.
type ToolsRefusedError struct {
	Server string
	Tools  []dialect.Withheld
}

func (e *ToolsRefusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "serve tools to the claude CLI as %q: it would not accept %d of them; change them, or leave them out with SkipRefused:", e.Server, len(e.Tools))
	for _, t := range e.Tools {
		fmt.Fprintf(&b, "\n%q: %s (%s)", t.Name, t.Why, t.Rule)
	}
	return b.String()
}
