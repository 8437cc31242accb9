package lower

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/schema"
)

// object writes what f says for objects.
func (l *lowering) object(f *schema.Form, at place) (*node, codec) {
	o := f.Object
	if o == nil {
		o = &schema.ObjectForm{MaxProperties: -1}
	}
	closed := o.Additional != nil && o.Additional.Kinds == 0
	switch {
	case len(o.Properties) > 0 || at.root:
		return l.record(f, o, at)
	case closed && (l.rules.Object.Filled || l.rules.Object.Maps == "json"):
		l.lose(Encoded, f.At, l.source.keyword(f.At), "the empty object is written as a text")
		return l.table(f, []json.RawMessage{json.RawMessage("{}")})
	case closed:
		return l.record(f, o, at)
	}
	return l.mapped(f, o, at)
}

// A record is an object being written.
type record struct {
	form  *schema.Form
	node  *node
	codec *objectCodec
	table []entry
	need  []string        // required
	taken map[string]bool // names in use
}

// record writes an object with properties.
func (l *lowering) record(f *schema.Form, o *schema.ObjectForm, at place) (*node, codec) {
	r := &record{form: f, node: typed(l.typeName("object")), codec: newObjectCodec(), taken: map[string]bool{}}
	for _, p := range o.Properties {
		r.taken[p.Name] = true
	}
	for _, p := range o.Properties {
		l.property(r, o, p, at)
	}
	l.additional(r, o, at)
	if len(r.table) > 0 || at.root && l.rules.Root.Properties || l.rules.Object.AllRequired {
		r.node.put(member{name: "properties", table: r.table})
		if r.table == nil {
			r.node.set("properties", json.RawMessage("{}"))
		}
	}
	if len(r.need) > 0 || l.rules.Object.AllRequired {
		r.node.set("required", names(r.need))
	}
	l.sizes(r, o)
	return r.node, r.codec.orNil()
}

// property writes one property.
func (l *lowering) property(r *record, o *schema.ObjectForm, p schema.Property, at place) {
	rules := l.rules.Object
	switch {
	case p.Bare && !rules.Declared && !rules.AllRequired && !rules.Closed:
		r.need = append(r.need, p.Name)
		return
	case p.Form.Kinds == 0 && !p.Required:
		if o.Additional == nil || o.Additional.Kinds != 0 {
			l.lose(Noop, p.Form.At, l.source.keyword(p.Form.At), "no value fits; the property is left out")
		}
		if !rules.Closed && l.allows("not") && !l.rules.TypeRequired {
			r.table = append(r.table, entry{p.Name, l.never(p.Form)})
		}
		return
	}
	here := at.inside()
	here.optional = here.optional || !p.Required
	code := property{name: p.Name, seen: l.rename(r, p, at)}
	var n *node
	if p.Required || !rules.AllRequired {
		n, code.codec = l.schema(p.Form, here)
	} else {
		n, code.codec = l.optional(p, here)
		code.absent = true
	}
	if code.seen != p.Name {
		code.renamed = true
	}
	if p.Required || rules.AllRequired {
		r.need = append(r.need, code.seen)
	}
	r.table = append(r.table, entry{code.seen, n})
	r.codec.add(code)
}

// optional writes a property that takes null for being left out.
func (l *lowering) optional(p schema.Property, at place) (*node, codec) {
	f := p.Form
	textual := f.Any() && l.rules.Untyped == "json" // null itself is the text "null"
	meant := f.Kinds&schema.KindNull != 0 && !textual && f.Ref == nil || f.Ref != nil && f.Ref.Form.Kinds&schema.KindNull != 0
	if meant && !isNull(f.Notes.Default) {
		wrapped := &schema.Form{At: f.At, Kinds: schema.KindObject, Object: &schema.ObjectForm{
			Properties: []schema.Property{{Name: "value", Form: f, Required: true}}, Additional: &schema.Form{}, MaxProperties: -1,
		}}
		l.lose(Encoded, f.At, l.source.keyword(f.At), `null leaves the property out; {"value":null} is null`)
		n, c := l.object(wrapped, at)
		n, c = l.orAbsent(n, c)
		return n, join(valueCodec{}, c)
	}
	n, c := l.schema(f, at)
	if f.Kinds&schema.KindNull != 0 && !textual {
		return n, c
	}
	if textual {
		c = orNull{c}
	}
	return l.orAbsent(n, c)
}

// orAbsent lets n take null for being left out.
func (l *lowering) orAbsent(n *node, c codec) (*node, codec) {
	told := n.get("description")
	n, c = l.nullable(&schema.Form{}, n, c)
	if inner := n.get("anyOf"); told != nil && inner != nil && n.get("description") == nil {
		first := inner.list[0] // the description belongs to the property, not to one of its alternatives
		if len(n.noted(l)) == 0 {
			first.drop("description")
			n.put(*told)
		}
	}
	return n, c
}

// noted lists the annotations that may not stand beside the alternatives of n.
func (n *node) noted(l *lowering) []string { return l.noSiblings(n) }

// rename returns the name of a property as the reader takes it.
func (l *lowering) rename(r *record, p schema.Property, at place) string {
	rules := l.rules.Object
	reserved := at.root && slices.Contains(rules.Reserved, p.Name)
	if !reserved && (!at.root && !rules.NameAll || l.nameFits(p.Name)) {
		return p.Name
	}
	base := l.repairName(p.Name)
	if reserved {
		r.taken[base] = true
	}
	name := base
	for n := 2; r.taken[name]; n++ {
		suffix := "_" + string(number(n))
		name = cut(base, rules.NameMax-len(suffix)) + suffix
	}
	r.taken[name] = true
	l.lose(Encoded, r.form.At, "properties", "%q is written as %q", p.Name, name)
	return name
}

// additional writes what f says of members that are no property.
func (l *lowering) additional(r *record, o *schema.ObjectForm, at place) {
	said := o.Additional
	patterns := hasRest(r.form, "patternProperties")
	rules := l.rules.Object
	switch {
	case !rules.Closed && said == nil:
	case !rules.Closed && patterns && !l.allows("patternProperties"):
		l.lose(Widened, r.form.At, "additionalProperties", "further members are not kept out, since some fit a pattern")
	case !rules.Closed && said.Kinds == 0:
		l.close(r)
	case !rules.Closed && l.allows("additionalProperties") && rules.Maps == "":
		l.others(r, said, at)
	case said == nil && !patterns || said != nil && said.Kinds == 0 && !patterns:
		if rules.Closed {
			l.close(r)
			if said == nil {
				l.lose(Noop, r.form.At, "additionalProperties", "members that are not declared cannot be written")
			}
			return
		}
		l.lose(Dropped, r.form.At, "additionalProperties", "not told; checked when the tool is called")
	default:
		if said == nil || said.Kinds == 0 {
			said = &schema.Form{At: r.form.At, Kinds: schema.KindAny}
		}
		l.more(r, said, at)
		if rules.Closed {
			l.close(r)
		}
	}
}

func hasRest(f *schema.Form, keyword string) bool {
	for _, k := range f.Rest {
		if k.Name == keyword {
			return true
		}
	}
	return false
}

// close says that there are no other members.
func (l *lowering) close(r *record) {
	switch {
	case l.allows("additionalProperties"):
		r.node.set("additionalProperties", json.RawMessage("false"))
	default:
		l.lose(Dropped, r.form.At, "additionalProperties", "not told; checked when the tool is called")
	}
}

// others writes the schema of other members.
func (l *lowering) others(r *record, said *schema.Form, at place) {
	n, c := l.schema(said, at.inside())
	r.codec.rest = c
	if said.Any() && len(n.members) == 0 {
		r.node.set("additionalProperties", json.RawMessage("true"))
		return
	}
	r.node.put(member{name: "additionalProperties", node: n})
}

// more writes other members as one property that holds them.
func (l *lowering) more(r *record, said *schema.Form, at place) {
	name := "more"
	for n := 2; r.taken[name]; n++ {
		name = "more_" + string(number(n))
	}
	held := &schema.Form{At: r.form.At, Kinds: schema.KindObject, Object: &schema.ObjectForm{Additional: said, MaxProperties: -1}}
	l.lose(Checked, r.form.At, "additionalProperties", "further members are written in the property %q", name)
	here := at.inside()
	here.optional = true
	n, c := l.object(held, here)
	n.tell("Further members.")
	l.annotate(&schema.Form{At: r.form.At}, n, c)
	if l.rules.Object.AllRequired {
		n, c = l.orAbsent(n, c)
		r.need = append(r.need, name)
	}
	r.table = append(r.table, entry{name, n})
	r.codec.more, r.codec.moreCodec, r.codec.moreNull = name, c, l.rules.Object.AllRequired
}

// sizes writes how many members there may be.
func (l *lowering) sizes(r *record, o *schema.ObjectForm) {
	shifted := l.rules.Object.AllRequired || r.codec.more != ""
	for _, b := range []struct {
		keyword string
		n       int
		set     bool
		words   string
	}{
		{"minProperties", o.MinProperties, o.MinProperties > 0, "At least "},
		{"maxProperties", o.MaxProperties, o.MaxProperties >= 0, "At most "},
	} {
		switch sentence := b.words + count(b.n, "member") + "."; {
		case !b.set:
		case shifted:
			l.describe(r.node, r.form.At, b.keyword, sentence)
		default:
			l.constraint(r.node, r.form.At, b.keyword, number(b.n), sentence)
		}
	}
}

// mapped writes an object whose members may have any name.
func (l *lowering) mapped(f *schema.Form, o *schema.ObjectForm, at place) (*node, codec) {
	keyword := l.source.first(f.At, "additionalProperties", "type")
	free := o.Additional == nil || o.Additional.Any()
	switch maps := l.rules.Object.Maps; {
	case maps == "" && !l.rules.Object.Closed && (l.allows("additionalProperties") || free):
		r := &record{form: f, node: typed(l.typeName("object")), codec: newObjectCodec()}
		if o.Additional != nil && l.allows("additionalProperties") {
			l.others(r, o.Additional, at)
		}
		l.sizes(r, o)
		return r.node, r.codec.orNil()
	case free || maps != "pairs":
		l.lose(Checked, f.At, keyword, "an object with members of any name is written as JSON text")
		n := l.jsonText("A JSON object, written as JSON text.")
		return n, jsonCodec{}
	}
	return l.pairs(f, o, keyword, at)
}

// pairs writes an object as a list of its members.
func (l *lowering) pairs(f *schema.Form, o *schema.ObjectForm, keyword string, at place) (*node, codec) {
	pair := &schema.Form{At: f.At, Kinds: schema.KindObject, Object: &schema.ObjectForm{
		Properties: []schema.Property{
			{Name: "key", Form: &schema.Form{At: f.At, Kinds: schema.KindString}, Required: true},
			{Name: "value", Form: o.Additional, Required: true},
		},
		Additional: &schema.Form{}, MaxProperties: -1,
	}}
	l.lose(Checked, f.At, keyword, "an object with members of any name is written as a list of keys and values; a key given twice is an error")
	list := &schema.Form{At: f.At, Kinds: schema.KindArray, Array: &schema.ArrayForm{
		Items: pair, MinItems: o.MinProperties, MaxItems: o.MaxProperties,
	}}
	n, c := l.array(list, at)
	return n, join(pairsCodec{}, c)
}

// nameFits says that a property name is taken.
func (l *lowering) nameFits(name string) bool {
	most := l.rules.Object.NameMax
	return (most == 0 || utf8.RuneCountInString(name) <= most) && (l.name == nil || l.name.MatchString(name))
}

// repairName makes a name that fits of one that does not.
func (l *lowering) repairName(name string) string {
	most := l.rules.Object.NameMax
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	fixed := cut(strings.Trim(b.String(), "_"), most)
	switch {
	case fixed == "":
		return "property"
	case !l.nameFits(fixed):
		return cut("p_"+fixed, most)
	}
	return fixed
}

func cut(s string, most int) string {
	if most > 0 && len(s) > most {
		return strings.TrimRight(s[:most], "_")
	}
	return s
}
