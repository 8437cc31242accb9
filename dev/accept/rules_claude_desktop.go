package accept

import (
	"slices"
	"strings"
)

// claudeDesktop is C1, after requirement 5, with cd.name and cd.out.
func claudeDesktop(s *subject) {
	named(s, "C1/name", portableName) // cd.name
	metaschema(s, "C1/metaschema", draft2020)
	rootObject(s, "C1/root")
	rootKeys(s, "C1/key", apiKey)
	noKeys(s, "C1/keys", "anyOf oneOf allOf $ref not nullable")
	schemasAreObjects(s, "C1/node")
	arraysHaveItems(s, "C1/items", false)
	plainText(s, "", s.Description)
	for _, p := range s.places {
		if p.v.isObject() && (p.typeName() == "" || p.typeName() == "null") {
			s.add(p, "C1/type", "type is not the name of one type")
		}
		if slices.ContainsFunc(append(p.v.get("enum").list(), p.v.get("const")), func(v *value) bool { return v != nil && v.kind == null }) {
			s.add(p, "C1/type", "null is a value")
		}
		if d := p.v.get("description"); d != nil {
			plainText(s, p.pointer(), d.text)
		}
	}
	if o := s.output(); o.root != nil {
		rootObject(o, "C1/output") // cd.out
		noRoot(o, "C1/output", "anyOf oneOf allOf $ref")
	}
}

func plainText(s *subject, pointer, description string) {
	if strings.ContainsAny(description, "()_") {
		s.addAt(pointer, "C1/description", "the description has parentheses or underscores")
	}
	if n := strings.Count(strings.TrimRight(description, "\n"), "\n") + 1; n > 4 {
		s.addAt(pointer, "C1/description", "the description has %d lines, at most 4 are accepted", n)
	}
}
