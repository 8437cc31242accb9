package lower

import (
	"slices"
	"strconv"
	"strings"
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
	s.order = append(s.order, at)
	for _, f := range all {
		s.keywords[at] = append(s.keywords[at], f.name)
		s.below(f, at+"/"+escape(f.name), depth+1)
	}
}

func (s *source) below(f field, at string, depth int) {
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

// account reports every keyword of the original that is neither in the output
// nor reported yet: said in another way, or part of what a loss above it is
// about.
func (l *lowering) account(out []byte) {
	written := readSource(out)
	reported := map[string]map[string]bool{}
	above := map[string]Loss{}
	for _, loss := range l.losses {
		if reported[loss.Pointer] == nil {
			reported[loss.Pointer] = map[string]bool{}
		}
		reported[loss.Pointer][loss.Keyword] = true
		if old, ok := above[loss.Pointer]; !ok || rank(loss.Kind) > rank(old.Kind) {
			above[loss.Pointer] = loss
		}
	}
	l.affected()
	for _, at := range l.source.order {
		for _, k := range l.source.keywords[at] {
			if !reported[at][k] && !slices.Contains(written.keywords[at], k) {
				l.inherit(above, at, k)
			}
		}
	}
}

// affected reports the alternatives that a loss is inside of: a value that
// does not fit there fits none of them.
func (l *lowering) affected() {
	for _, loss := range l.losses {
		if loss.Kind == Noop || loss.Kind == Encoded || loss.Kind == Narrowed {
			continue
		}
		tokens := strings.Split(loss.Pointer, "/")
		for i := len(tokens) - 2; i > 0; i-- {
			at := strings.Join(tokens[:i], "/")
			if k := tokens[i]; (k == "anyOf" || k == "oneOf" || k == "allOf") && slices.Contains(l.source.keywords[at], k) {
				l.lose(loss.Kind, at, k, "an alternative is %s", loss.Kind)
			}
		}
	}
}

// inherit reports a keyword as what the nearest loss above it did.
func (l *lowering) inherit(above map[string]Loss, at, keyword string) {
	if loss, ok := l.twin(at, keyword); ok {
		l.lose(loss.Kind, at, keyword, "merged with %s: %s", loss.Pointer, loss.Detail)
		return
	}
	for p := at; ; p = p[:strings.LastIndexByte(p, '/')] {
		if loss, ok := above[p]; ok && loss.Kind != Noop && loss.Kind != Encoded && !isAnnotation(keyword) {
			l.lose(loss.Kind, at, keyword, "part of what became of %s above", loss.Keyword)
			return
		}
		if p == "" {
			l.lose(Noop, at, keyword, "said in another way")
			return
		}
	}
}

// twin returns the loss of the same keyword of another schema for the same
// property: allOf and references say what a value is in several places, which
// are one after merging.
func (l *lowering) twin(at, keyword string) (Loss, bool) {
	name := at[strings.LastIndexByte(at, '/')+1:]
	for _, loss := range l.losses {
		if loss.Keyword == keyword && loss.Kind != Noop && loss.Pointer != at && strings.HasSuffix(loss.Pointer, "/"+name) {
			return loss, true
		}
	}
	return Loss{}, false
}

func isAnnotation(keyword string) bool {
	return slices.Contains([]string{"title", "description", "default", "examples", "$schema", "$id", "$comment", "$defs", "definitions", "deprecated", "readOnly", "writeOnly"}, keyword)
}

// rank orders kinds from harmless to fatal.
func rank(k Kind) int {
	return slices.Index([]Kind{Noop, Encoded, Checked, Described, Widened, Narrowed, Dropped, Rejected}, k)
}
