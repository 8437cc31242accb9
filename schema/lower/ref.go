package lower

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// A sharedDef is a definition that is written once.
type sharedDef struct {
	name  string
	codec *reference
}

// ref writes a reference, or what it leads to.
func (l *lowering) ref(f *schema.Form, at place) (*node, codec) {
	d := f.Ref
	if l.keeps(f, at) {
		n, c := l.share(f)
		l.annotate(&schema.Form{At: f.At, Notes: f.Notes}, n, c)
		return n, c
	}
	if l.open[d] > l.unroll {
		l.lose(Checked, f.At, "$ref", "%s is written as JSON text from the level %d on", d.Name, l.open[d]+1)
		l.lose(Checked, d.Form.At, l.source.keyword(d.Form.At), "%s inside itself is written as JSON text", d.Name)
		n := l.jsonText("As above, written as JSON text.")
		c := jsonCodec{lenient: d.Form.Kinds&schema.KindString != 0}
		l.annotate(&schema.Form{At: f.At, Notes: f.Notes}, n, c)
		return n, c
	}
	l.open[d]++
	defer func() { l.open[d]-- }()
	here := *d.Form
	here.Notes = over(f.Notes, here.Notes)
	l.lose(Noop, f.At, "$ref", "the definition is written in place")
	return l.schema(&here, at)
}

// over returns the notes of a reference over those of its definition.
func over(site, def schema.Notes) schema.Notes {
	if site.Title != "" {
		def.Title = site.Title
	}
	if site.Description != "" {
		def.Description = site.Description
	}
	if site.Default != nil {
		def.Default = site.Default
	}
	if site.Examples != nil {
		def.Examples = site.Examples
	}
	if site.Others != nil {
		def.Others = site.Others
	}
	return def
}

// keeps says that a reference is written as one.
func (l *lowering) keeps(f *schema.Form, at place) bool {
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

// share writes a reference to a definition, which is written once.
func (l *lowering) share(f *schema.Form) (*node, codec) {
	d := f.Ref
	s := l.shared[d]
	if s == nil {
		s = &sharedDef{l.defName(d.Name), &reference{name: d.Name}}
		l.shared[d] = s
		l.defs = append(l.defs, entry{name: s.name})
		i := len(l.defs) - 1
		open := l.open
		l.open = map[*schema.Def]int{}
		l.defs[i].node, s.codec.to = l.schema(d.Form, place{})
		l.open = open
	}
	ref := "#/" + l.defsKeyword() + "/" + s.name
	return &node{members: []member{{name: "$ref", raw: quote(ref)}}}, s.codec
}

func (l *lowering) defsKeyword() string {
	if l.rules.Dialect == "draft-07" {
		return "definitions"
	}
	return "$defs"
}

// defName makes a name that needs no escapes in a reference.
func (l *lowering) defName(name string) string {
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
	for n := 2; slices.ContainsFunc(l.defs, func(e entry) bool { return e.name == unique }); n++ {
		unique = clean + "_" + string(number(n))
	}
	return unique
}

// definitions writes what references lead to.
func (l *lowering) definitions(root *node) {
	if len(l.defs) > 0 {
		root.put(member{name: l.defsKeyword(), table: l.defs})
	}
}
