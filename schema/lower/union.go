package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// union writes alternatives of overlapping kinds.
func (l *lowering) union(f *schema.Form, at place) (*node, codec) {
	u := f.Alts
	if l.rules.Union.None || at.root && l.rules.Root.NoUnion {
		return l.flatten(f, at)
	}
	nodes := make([]*node, len(u.Forms))
	branches := &branchCodec{}
	for i, alt := range u.Forms {
		var c codec
		nodes[i], c = l.schema(alt, at)
		branches.add(nodes[i], alt, c)
	}
	if l.rules.Union.FirstKey && !distinctFirst(nodes, u.Tag) {
		return l.flatten(f, at)
	}
	keyword := "anyOf"
	if u.One {
		if l.rules.Union.OneOf && branches.orNil() == nil {
			keyword = "oneOf"
		} else {
			l.lose(Widened, f.At, l.source.first(f.At, "oneOf"), "a value that fits more than one alternative is accepted here")
		}
	}
	n := &node{members: []member{{name: keyword, list: nodes}}}
	c := branches.orNil()
	if f.Kinds&schema.KindNull != 0 {
		n, c = l.nullable(f, n, c)
	}
	return n, c
}

// distinctFirst orders the properties of alternatives so that each begins with
// another one, or with the tag; false if there is no such order.
func distinctFirst(nodes []*node, tag string) bool {
	used := map[string]bool{}
	for _, n := range nodes {
		table := n.get("properties")
		if table == nil || len(table.table) == 0 {
			if n.typeName() == "object" || n.get("$ref") != nil {
				return false
			}
			continue
		}
		first := slices.IndexFunc(table.table, func(e entry) bool {
			if tag != "" {
				return e.name == tag
			}
			return !used[e.name]
		})
		if first < 0 {
			return false
		}
		e := table.table[first]
		used[e.name] = true
		table.table = append([]entry{e}, slices.Delete(slices.Clone(table.table), first, first+1)...)
	}
	return true
}

// flatten writes alternatives as one schema that takes all of them.
func (l *lowering) flatten(f *schema.Form, at place) (*node, codec) {
	if l.merging > 3 { // alternatives of alternatives
		l.lose(Checked, f.At, l.source.keyword(f.At), "alternatives inside alternatives are written as JSON text")
		return l.text(f)
	}
	l.merging++
	defer func() { l.merging-- }()
	l.lose(Widened, f.At, l.source.first(f.At, "anyOf", "oneOf", "type"), "alternatives are merged into one; which members go together is checked when the tool is called")
	merged := l.merge(f)
	var n *node
	var c codec
	if merged.Alts != nil {
		n, c = l.text(merged)
	} else if n, c = l.kinds(merged, at); n.typeName() != "" {
		l.tellAlternatives(n, f.Alts)
	}
	return n, c
}

// merge returns one form that takes what any of the alternatives takes.
func (l *lowering) merge(f *schema.Form) *schema.Form {
	merged := &schema.Form{At: f.At, Kinds: f.Kinds & schema.KindNull}
	byKind := map[string][]*schema.Form{}
	for _, alt := range f.Alts.Forms {
		for _, name := range typesOf(content(alt).Kinds) {
			byKind[name] = append(byKind[name], content(alt))
			merged.Kinds |= kindsOf(name)
		}
	}
	merged.Object = mergeObjects(byKind["object"])
	merged.Array = mergeArrays(byKind["array"])
	mergeScalars(merged, byKind)
	return merged
}

// content follows a reference.
func content(f *schema.Form) *schema.Form {
	for range 8 {
		if f.Ref == nil {
			break
		}
		f = f.Ref.Form
	}
	return f
}

// mergeScalars keeps enums, and the rules of types that only one alternative has.
func mergeScalars(merged *schema.Form, byKind map[string][]*schema.Form) {
	enum := &schema.EnumForm{}
	for _, name := range []string{"string", "integer", "number", "boolean"} {
		forms := byKind[name]
		kind := kindsOf(name)
		all := len(forms) > 0 && !(name == "integer" && byKind["number"] != nil)
		for _, f := range forms {
			all = all && enumOf(f, kind) != nil
		}
		if all {
			enum.Kinds |= kind
			for _, f := range forms {
				for _, v := range enumOf(f, kind) {
					if !slices.ContainsFunc(enum.Values, func(w json.RawMessage) bool { return same(v, w) }) {
						enum.Values = append(enum.Values, v)
					}
				}
			}
		}
		if len(forms) == 1 && !all {
			if name == "string" {
				merged.Text = forms[0].Text
			} else if name != "boolean" && (byKind["integer"] == nil || byKind["number"] == nil) {
				merged.Number = forms[0].Number
			}
		}
	}
	if enum.Kinds != 0 {
		merged.Enum = enum
	}
}

func mergeArrays(forms []*schema.Form) *schema.ArrayForm {
	if len(forms) == 0 {
		return nil
	}
	merged := &schema.ArrayForm{MaxItems: -1}
	var items []*schema.Form
	for _, f := range forms {
		if f.Array == nil || f.Array.Items == nil {
			return merged
		}
		items = append(append(items, f.Array.Prefix...), f.Array.Items)
	}
	merged.Items = schema.AnyOf(items...)
	return merged
}

// mergeObjects returns an object with the properties of all forms; required is
// what all require.
func mergeObjects(forms []*schema.Form) *schema.ObjectForm {
	if len(forms) == 0 {
		return nil
	}
	merged := &schema.ObjectForm{Additional: &schema.Form{}, MaxProperties: -1}
	alternatives := map[string][]*schema.Form{}
	required := map[string]int{}
	for _, f := range forms {
		o := f.Object
		if o == nil {
			o = &schema.ObjectForm{}
		}
		for _, p := range o.Properties {
			if alternatives[p.Name] == nil {
				merged.Properties = append(merged.Properties, schema.Property{Name: p.Name})
			}
			alternatives[p.Name] = append(alternatives[p.Name], p.Form)
			if p.Required {
				required[p.Name]++
			}
		}
		switch {
		case o.Additional == nil && merged.Additional != nil && merged.Additional.Kinds == 0:
			merged.Additional = nil
		case o.Additional != nil && o.Additional.Kinds != 0:
			merged.Additional = o.Additional
		}
	}
	for i := range merged.Properties {
		p := &merged.Properties[i]
		p.Form = anyOf(alternatives[p.Name])
		p.Required = required[p.Name] == len(forms)
	}
	return merged
}

// anyOf joins forms that may be the same.
func anyOf(forms []*schema.Form) *schema.Form {
	forms = slices.Compact(slices.Clone(forms))
	if len(forms) == 1 {
		return forms[0]
	}
	return schema.AnyOf(forms...)
}

// tellAlternatives tells which members go together.
func (l *lowering) tellAlternatives(n *node, u *schema.Union) {
	var list []string
	for _, alt := range u.Forms {
		o := content(alt).Object
		if o == nil {
			return
		}
		var need []string
		for _, p := range o.Properties {
			if p.Required {
				need = append(need, p.Name)
			}
		}
		if need == nil {
			return
		}
		list = append(list, strings.Join(need, " with "))
	}
	if s := strings.Join(list, "; or "); len(s) < maxTold && !l.rules.Silent {
		n.tell("Give together: " + s + ".")
	}
}

// A branchCodec chooses among alternatives.
type branchCodec struct{ branches []branch }

type branch struct {
	seen  schema.Kinds // as the reader writes it
	form  *schema.Form // the original
	codec codec
}

func (c *branchCodec) add(n *node, f *schema.Form, code codec) {
	c.branches = append(c.branches, branch{seenKinds(n), f, code})
}

// seenKinds returns the kinds of values that a written schema takes.
func seenKinds(n *node) schema.Kinds {
	if m := n.get("anyOf"); m != nil {
		var all schema.Kinds
		for _, alt := range m.list {
			all |= seenKinds(alt)
		}
		return all
	}
	t := n.get("type")
	if t == nil {
		return schema.KindAny
	}
	var kinds schema.Kinds
	list, ok := elements(t.raw)
	if !ok {
		list = [][]byte{t.raw}
	}
	for _, item := range list {
		name, _ := unquote(item)
		kinds |= kindsOf(strings.ToLower(name))
	}
	return kinds
}

func (c *branchCodec) orNil() codec {
	if slices.ContainsFunc(c.branches, func(b branch) bool { return b.codec != nil }) {
		return c
	}
	return nil
}

func (c *branchCodec) parts() []codec {
	var all []codec
	for _, b := range c.branches {
		all = append(all, b.codec)
	}
	return all
}

// decode takes the first alternative of the value's kind whose original fits.
func (c *branchCodec) decode(x *trip, dst, src []byte) []byte {
	var possible []branch
	for _, b := range c.branches {
		if b.seen&kindOf(src) != 0 {
			possible = append(possible, b)
		}
	}
	for _, b := range possible {
		if len(possible) == 1 {
			return decode(b.codec, x, dst, src)
		}
		try := &trip{path: x.path}
		if out := decode(b.codec, try, nil, src); fits(b.form, out) {
			x.notes = append(x.notes, try.notes...)
			return append(dst, out...)
		}
	}
	if len(possible) > 0 {
		return decode(possible[0].codec, x, dst, src)
	}
	return append(dst, src...)
}

func (c *branchCodec) encode(dst, src []byte) ([]byte, bool) {
	for _, b := range c.branches {
		if !fits(b.form, src) {
			continue
		}
		if out, ok := encode(b.codec, nil, src); ok {
			return append(dst, out...), true
		}
	}
	if len(src) == 4 && isNull(src) {
		return append(dst, src...), true
	}
	return dst, false
}

// seen follows the only alternative that has such a member.
func (c *branchCodec) seen(path []string) []string {
	for _, b := range c.branches {
		if o := content(b.form).Object; o != nil && b.codec != nil &&
			slices.ContainsFunc(o.Properties, func(p schema.Property) bool { return p.Name == path[0] }) {
			return b.codec.seen(path)
		}
	}
	return path
}
