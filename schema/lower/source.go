package lower

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// maxSource bounds how many schemas of the original are looked at for the
// report.
const maxSource = 10_000

// A source knows which keywords the original has, and where.
type source struct {
	order     []string // pointers of schema objects
	keywords  map[string][]string
	referrers map[string][]string // by pointer, those of the schemas with a reference that leads there
}

// Keywords that hold schemas: one, a list, a table by name.
var (
	holdsOne   = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "contentSchema"}
	holdsList  = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	holdsTable = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

func readSource(raw []byte) *source {
	s := &source{
		keywords:  make(map[string][]string, min(bytes.Count(raw, []byte("{")), maxSource)),
		referrers: map[string][]string{},
	}
	s.read(&parser{src: raw}, "", 0)
	return s
}

func (s *source) read(p *parser, at string, depth int) {
	if depth > maxDepth*4 || len(s.order) > maxSource || !p.open('{') {
		p.value()
		return
	}
	s.order = append(s.order, at)
	keywords := make([]string, 0, 4)
	for n := 0; p.more(n, '}'); n++ {
		_, name := p.name()
		k := string(name)
		keywords = append(keywords, k)
		s.below(k, p, at, depth+1)
	}
	s.keywords[at] = append(s.keywords[at], keywords...)
}

// below reads the schemas that a keyword of the schema at a pointer holds.
func (s *source) below(keyword string, p *parser, at string, depth int) {
	switch c := p.peek(); {
	case c == '{' && slices.Contains(holdsTable, keyword):
		at += "/" + keyword
		p.open(c)
		for n := 0; p.more(n, '}'); n++ {
			_, name := p.name()
			s.read(p, at+"/"+escape(string(name)), depth)
		}
	case c == '{' && slices.Contains(holdsOne, keyword):
		s.read(p, at+"/"+keyword, depth)
	case c == '[' && slices.Contains(holdsList, keyword):
		at += "/" + keyword
		p.open(c)
		for i := 0; p.more(i, ']'); i++ {
			s.read(p, at+"/"+strconv.Itoa(i), depth)
		}
	case keyword == "$ref":
		if ref, ok := unquote(p.value()); ok && strings.HasPrefix(ref, "#/") {
			s.referrers[ref[1:]] = append(s.referrers[ref[1:]], at)
		}
	default:
		p.value()
	}
}

// referrer returns the schema with the only reference to the schema at a
// pointer, which is merged with it.
func (s *source) referrer(at string) (pointer string, ok bool) {
	if all := s.referrers[at]; len(all) == 1 {
		return all[0], true
	}
	return "", false
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
