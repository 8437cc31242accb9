package accept

import (
	"regexp"
	"slices"
	"strings"
)

var mcpName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// mcp is M1, the specification of 2026-07-28, and the base of its clients.
func mcp(s *subject) {
	jsonSchema(s, "M1", mcpName, declared(s)) // spec.name, spec.root
	bounds(s)
	headers(s)
}

// bounds are those of section 4.3, which keep a validator alive.
func bounds(s *subject) {
	s.limit("M1/bounds", "bytes", len(s.Input), 1<<20)
	s.limit("M1/bounds", "subschemas", len(s.places), 10_000)
	for _, p := range s.places {
		if p.depth > 64 {
			s.add(p, "M1/bounds", "deeper than 64")
			return
		}
	}
	if p := s.cycle(inPlace); p != nil {
		s.add(p, "M1/cycle", "refers to itself in the same place")
		return
	}
	const most = 100_000
	known := map[*place]int{}
	var ways func(*place) int
	ways = func(p *place) int {
		n, ok := known[p]
		if !ok {
			n = 1
			for _, next := range p.next(inPlace) {
				n = min(n+ways(next), most+1)
			}
			known[p] = n
		}
		return n
	}
	for _, p := range s.places {
		if ways(p) > most {
			s.add(p, "M1/bounds", "there are more than %d ways through references and branches", most)
			return
		}
	}
}

// inPlace reports whether a child judges the same value as its parent.
func inPlace(c *place) bool {
	return slices.Contains(strings.Fields("allOf anyOf oneOf not if then else dependentSchemas dependencies"), c.via)
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// headers is spec.xheader: a client drops a tool that does not keep to it.
func headers(s *subject) {
	seen := map[string]bool{}
	for _, p := range s.places {
		h := p.v.get("x-mcp-header")
		if h == nil {
			continue
		}
		name := strings.ToLower(h.text)
		if h.kind != text || !headerName.MatchString(name) || seen[name] {
			s.add(p, "M1/x-mcp-header", "the header %q is not a name, or it is there twice", h.text)
		}
		seen[name] = true
		if t := p.typeName(); t != "string" && t != "integer" && t != "boolean" {
			s.add(p, "M1/x-mcp-header", "a header's value is a string, an integer or a boolean")
		}
		for at := p; at.parent != nil; at = at.parent {
			if at.via != "properties" {
				s.add(p, "M1/x-mcp-header", "the property is not always in the same place")
				break
			}
		}
	}
}
