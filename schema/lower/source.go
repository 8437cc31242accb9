package lower

import (
	"slices"
	"strconv"
)

// maxSource bounds how many schemas of the original are looked at for the
// report.
const maxSource = 10_000

// A source knows which keywords the original has, and where.
type source struct {
	order    []string // pointers of schema objects
	keywords map[string][]string
}

// Keywords that hold schemas: one, a list, a table by name.
var (
	holdsOne   = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "contentSchema"}
	holdsList  = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	holdsTable = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

func readSource(raw []byte) *source {
	s := &source{keywords: map[string][]string{}}
	s.read(raw, "", 0)
	return s
}

func (s *source) read(raw []byte, at string, depth int) {
	all, ok := fields(raw)
	if !ok || depth > maxDepth*4 || len(s.order) > maxSource {
		return
	}
	keywords := make([]string, len(all))
	for i, f := range all {
		keywords[i] = f.name
	}
	s.order = append(s.order, at)
	s.keywords[at] = append(s.keywords[at], keywords...)
	for _, f := range all {
		s.below(f, at, depth+1)
	}
}

// below reads the schemas that a keyword of the schema at a pointer holds.
func (s *source) below(f field, at string, depth int) {
	if len(f.value) == 0 || f.value[0] != '{' && f.value[0] != '[' {
		return
	}
	at += "/" + escape(f.name)
	if slices.Contains(holdsTable, f.name) {
		inner, _ := fields(f.value)
		for _, sub := range inner {
			s.read(sub.value, at+"/"+escape(sub.name), depth)
		}
		return
	}
	if list, ok := elements(f.value); ok {
		for i, sub := range list {
			if slices.Contains(holdsList, f.name) {
				s.read(sub, at+"/"+strconv.Itoa(i), depth)
			}
		}
		return
	}
	if slices.Contains(holdsOne, f.name) {
		s.read(f.value, at, depth)
	}
}

// keyword returns the keyword by which the schema at a pointer says what
// values it takes.
func (s *source) keyword(at string) string {
	return s.first(at, "type", "anyOf", "oneOf", "$ref", "enum", "const", "allOf", "properties", "additionalProperties", "items")
}

// first returns the first of the keywords that the schema has, else the first
// of all.
func (s *source) first(at string, list ...string) string {
	for _, k := range list {
		if slices.Contains(s.keywords[at], k) {
			return k
		}
	}
	return list[0]
}
