package toolpost

import (
	"fmt"
	"strings"
)

// Limits of URI templates and of the URIs that are compared with them. Real
// ones are far smaller, and a comparison takes time in proportion to both.
const (
	maxTemplate    = 2 << 10
	maxExpressions = 64
	maxMatchedURI  = 8 << 10
)

// Validate returns an error if the template is too large to be matched. Matches
// returns false for every URI of such a template.
func (r *Resource) Validate() error {
	switch {
	case !r.Template:
		return nil
	case len(r.URI) > maxTemplate:
		return fmt.Errorf("the URI template has %d bytes; the limit is %d", len(r.URI), maxTemplate)
	case strings.Count(r.URI, "{") > maxExpressions:
		return fmt.Errorf("the URI template has more than %d expressions", maxExpressions)
	}
	return nil
}

// Matches reports whether uri is the resource's URI or, for a template, whether
// the template (RFC 6570) can expand to it. An expression without an operator
// stands for one path segment; the others stand for any text.
func (r *Resource) Matches(uri string) bool {
	if !r.Template {
		return r.URI == uri
	}
	literal, _, _ := strings.Cut(r.URI, "{")
	if !strings.HasPrefix(uri, literal) || len(uri) > maxMatchedURI || r.Validate() != nil {
		return false
	}
	m := newMatch(uri)
	for template := r.URI; template != ""; {
		literal, rest, found := strings.Cut(template, "{")
		m.matchLiteral(literal)
		expression, after, closed := strings.Cut(rest, "}")
		switch {
		case !found:
		case !closed:
			m.matchLiteral("{" + rest)
		default:
			m.expression(strings.ContainsAny(expression[:min(1, len(expression))], "+#/?&;") || strings.HasSuffix(expression, "*"))
		}
		template = after
	}
	return m.ends[len(uri)]
}

// A match holds the offsets of uri at which the part of the template that was
// read so far can end. There is no backtracking, so time stays proportional to
// the product of the two lengths.
type match struct {
	uri  string
	ends []bool
}

func newMatch(uri string) *match {
	m := &match{uri, make([]bool, len(uri)+1)}
	m.ends[0] = true
	return m
}

func (m *match) matchLiteral(text string) {
	if text == "" {
		return
	}
	next := make([]bool, len(m.ends))
	for i, ok := range m.ends {
		if ok && strings.HasPrefix(m.uri[i:], text) {
			next[i+len(text)] = true
		}
	}
	m.ends = next
}

func (m *match) expression(anyText bool) {
	for i := range len(m.uri) {
		if m.ends[i] && (anyText || strings.IndexByte("/?#", m.uri[i]) < 0) {
			m.ends[i+1] = true
		}
	}
}
