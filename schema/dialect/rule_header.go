package dialect

import (
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// mcpHeader asks clients to send an argument as an HTTP header too.
const mcpHeader = "x-mcp-header"

func headerRules() []*Rule {
	return []*Rule{{
		Name: "mcp-header", All: true, Effect: dropsTool,
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
		name, typeName := strings.ToLower(h.Text), ""
		if t := n.Get("type"); t != nil {
			typeName = t.Text
		}
		switch nameFits, placeFits := v.form.Input.HeaderFits(n.pointer(), typeName, h.Text); {
		case h.Kind != jsontree.KindString || !nameFits:
			v.report(mcpHeader, "%v is not a valid header name", h)
		case seen[name]:
			v.report(mcpHeader, "the header %v is used twice", h)
		case !placeFits:
			v.report(mcpHeader, "the argument is not a string, an integer or a boolean at a fixed place")
		}
		seen[name] = true
	}
	v.node = nil
}
