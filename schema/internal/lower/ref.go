package lower

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// definitions are what references lead to.
type definitions struct {
	defs   []entry // written so far
	shared map[*form.Def]*sharedDef
	open   map[*form.Def]int // being written in place, and how often
	inside bool              // one is written inside itself
}

// A sharedDef is a definition that is written once.
type sharedDef struct {
	name  string
	codec *reference
}

// writeRef writes a reference, or what it leads to.
func writeRef(l *lowering, f *form.Form, at place) (*node, codec) {
	d := f.Ref
	if keepsRef(l, f, at) {
		n, c := writeShared(l, d)
		annotate(l, f.At, &f.Notes, n, c)
		return n, c
	}
	if l.open[d] > l.unroll {
		l.lose(Checked, f.At, "$ref", "%s is written as a string of JSON from level %d on", d.Name, l.open[d]+1)
		l.reshape(Checked, d.Form.At, "%s inside itself is written as a string of JSON", d.Name)
		n := jsonText(l.reader, "As above, written as JSON text.")
		c := jsonCodec{lenient: d.Form.Kinds&jsontree.KindString != 0}
		annotate(l, f.At, &f.Notes, n, c)
		return n, c
	}
	l.inside = l.inside || l.open[d] > 0
	l.open[d]++
	defer func() { l.open[d]-- }()
	here := *d.Form
	here.Notes = f.Notes.Over(here.Notes)
	l.lose(Noop, f.At, "$ref", "the definition is written in place")
	return l.write(&here, at)
}

// keepsRef reports whether a reference is written as one.
func keepsRef(l *lowering, f *form.Form, at place) bool {
	rules := l.rules.Ref
	switch {
	case rules.Inline || !l.allows("$ref"), at.root && l.rules.Root.Object:
		return false
	case f.Ref.Recursive && (rules.Recursion == "none" || rules.Recursion == "optional" && !at.optional):
		return false
	}
	told := f.Notes.Description != "" || f.Notes.Default != nil
	return f.Ref.Recursive || !told || rules.Siblings == nil || slices.Contains(rules.Siblings, "description")
}

// writeShared writes a reference to a definition, which is written once.
func writeShared(l *lowering, d *form.Def) (*node, codec) {
	s := l.shared[d]
	if s == nil {
		s = &sharedDef{l.defName(d.Name), &reference{}}
		l.shared[d] = s
		i := len(l.defs)
		l.defs = append(l.defs, entry{name: s.name})
		open := l.open
		l.open = map[*form.Def]int{}
		l.defs[i].node, s.codec.to = l.write(d.Form, place{})
		l.open = open
	}
	ref := "#/" + l.defsKeyword() + "/" + s.name
	return &node{members: []member{{name: "$ref", raw: quote(ref)}}}, s.codec
}

// defsKeyword is where the reader looks for definitions.
func (r *reader) defsKeyword() string {
	if r.rules.Dialect == "draft-07" {
		return "definitions"
	}
	return "$defs"
}

// defName makes a name that needs no escapes in a reference.
func (d *definitions) defName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
	if clean == "" {
		clean = "def"
	}
	unique := clean
	for n := 2; slices.ContainsFunc(d.defs, func(e entry) bool { return e.name == unique }); n++ {
		unique = clean + "_" + string(number(n))
	}
	return unique
}

// A reference is the codec of a definition, which may refer to itself.
type reference struct {
	to codec // set once the definition is written
}

func (c *reference) decode(x *trip, dst []byte) []byte { return decode(c.to, x, dst) }

func (c *reference) encode(x *trip, dst, src []byte) ([]byte, bool) {
	return encode(c.to, x, dst, src)
}

func (c *reference) seenPath(path []string) []string { return seenPath(c.to, path) }
