package dialect

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// mcpHeader asks clients to send an argument as an HTTP header too.
const mcpHeader = "x-mcp-header"

// headerName is a token of HTTP (RFC 9110, section 5.6.2).
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func headerRules() []*Rule {
	return []*Rule{{
		Name: "mcp-header", All: true, Effect: DropsTool,
		What:  "x-mcp-header is a valid HTTP header name, used once in the tool, on an argument that is a string, an integer or a boolean at a fixed place.",
		Why:   "Clients of MCP 2026-07-28 over HTTP must drop a tool that requires a header that they cannot send.",
		Fix:   "Correct the name, or remove the keyword: the value still arrives as an argument. Adapting removes it.",
		when:  func(d *Dialect) bool { return d.takes(mcpHeader) },
		check: check{document: headers},
	}}
}

func headers(v *view, d *document) {
	seen := map[string]bool{}
	for _, n := range d.nodes {
		h := n.Get(mcpHeader)
		if h == nil {
			continue
		}
		v.node = n
		name := strings.ToLower(h.Text)
		switch {
		case h.Kind != jsontree.KindString || !headerName.MatchString(h.Text):
			v.report(mcpHeader, "%v is not a valid header name", h)
		case seen[name]:
			v.report(mcpHeader, "the header %v is used twice", h)
		case !plainType(n) || !fixed(n):
			v.report(mcpHeader, "the argument is not a string, an integer or a boolean at a fixed place")
		}
		seen[name] = true
	}
	v.node = nil
}

func plainType(n *node) bool {
	return slices.ContainsFunc([]string{"string", "integer", "boolean"}, n.Get("type").IsText)
}

// fixed reports whether only properties lead to n.
func fixed(n *node) bool {
	for ; n.parent != nil; n = n.parent {
		if n.keyword != "properties" {
			return false
		}
	}
	return true
}
