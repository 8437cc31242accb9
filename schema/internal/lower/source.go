package lower

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
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

func readSource(raw []byte) *source {
	s := &source{
		keywords:  make(map[string][]string, min(bytes.Count(raw, []byte("{")), maxSource)),
		referrers: map[string][]string{},
	}
	if v, broken := jsontree.ParseLenient(raw, maxLevels); broken == nil {
		s.read(v, "", 0)
	}
	return s
}

// maxLevels is how deep a source may be nested, as encoding/json has it.
const maxLevels = 10_000

func (s *source) read(v *jsontree.Value, at string, depth int) {
	if depth > maxDepth*4 || len(s.order) > maxSource || v.Kind != jsontree.KindObject {
		return
	}
	s.order = append(s.order, at)
	keywords := make([]string, 0, len(v.Kids))
	for _, k := range v.Kids {
		keywords = append(keywords, k.Name)
		if k.Name == "$ref" && k.Kind == jsontree.KindString && strings.HasPrefix(k.Text, "#/") {
			s.referrers[k.Text[1:]] = append(s.referrers[k.Text[1:]], at)
		}
		for token, kid := range shape.Subschemas(k) {
			s.read(kid, at+"/"+k.Name+token, depth+1)
		}
	}
	s.keywords[at] = append(s.keywords[at], keywords...)
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
