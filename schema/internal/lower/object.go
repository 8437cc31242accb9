package lower

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeObject writes what f says for objects.
func writeObject(l *lowering, f *form.Form, at place) (*node, codec) {
	o := f.Object
	if o == nil {
		o = &form.Object{MaxProperties: -1}
	}
	closed := o.Additional != nil && o.Additional.Kinds == 0
	switch {
	case len(o.Properties) > 0 || at.root:
		return writeRecord(l, f, o, at)
	case closed && (l.rules.Object.Filled || l.rules.Object.Maps == "json" || l.rules.Object.Maps != "" && !l.allows("additionalProperties")):
		l.reshape(Encoded, f.At, "the empty object is written as a string")
		return writeTable(l, f.At, []json.RawMessage{json.RawMessage("{}")})
	case closed:
		return writeRecord(l, f, o, at)
	}
	return writeMap(l, f, o, at)
}

// A record is an object with properties being written.
type record struct {
	*lowering
	form   *form.Form
	object *form.Object
	at     place
	node   *node
	codec  *objectCodec
	table  []entry
	need   []string        // required
	taken  map[string]bool // names in use; nil until one is asked for
}

func writeRecord(l *lowering, f *form.Form, o *form.Object, at place) (*node, codec) {
	r := &record{
		lowering: l, form: f, object: o, at: at,
		node: l.typeNode("object"), codec: &objectCodec{},
	}
	for _, p := range o.Properties {
		r.property(p)
	}
	r.additional()
	all := l.rules.Object.AllRequired
	if len(r.table) > 0 || at.root && l.rules.Root.Properties || all {
		r.node.put(member{name: "properties", table: r.table})
		if r.table == nil {
			r.node.set("properties", json.RawMessage("{}"))
		}
	}
	if len(r.need) > 0 || all {
		r.node.set("required", names(r.need))
	}
	r.sizes()
	return r.node, r.codec.finish()
}

// property writes one property.
func (r *record) property(p form.Property) {
	rules := r.rules.Object
	switch {
	case p.Bare && !rules.Declared && !rules.AllRequired && !rules.Closed:
		r.need = append(r.need, p.Name)
		return
	case p.Form.Kinds == 0 && !p.Required:
		r.forbidden(p)
		return
	}
	here := r.at.inside()
	here.optional = here.optional || !p.Required
	known := property{name: p.Name, seen: r.rename(p)}
	known.renamed = known.seen != p.Name
	known.absent = !p.Required && rules.AllRequired
	form := r.withName(p.Form, known)
	var n *node
	if known.absent {
		n, known.codec = writeOptional(r.lowering, form, here)
	} else {
		n, known.codec = r.write(form, here)
	}
	if p.Required || rules.AllRequired {
		r.need = append(r.need, known.seen)
	}
	r.table = append(r.table, entry{known.seen, n})
	r.codec.properties = append(r.codec.properties, known)
}

// forbidden writes a property that must not be there.
func (r *record) forbidden(p form.Property) {
	if more := r.object.Additional; more == nil || more.Kinds != 0 {
		r.reshape(Noop, p.Form.At, "no value matches; the property is left out")
	}
	if !r.rules.Object.Closed && r.allows("not") && !r.rules.TypeRequired {
		r.table = append(r.table, entry{p.Name, writeNever(r.lowering, p.Form)})
	}
}

// rename returns the name of a property as the reader takes it.
func (r *record) rename(p form.Property) string {
	rules := r.rules.Object
	reserved := r.at.root && slices.Contains(rules.Reserved, p.Name)
	if !reserved && (!r.at.root && !rules.NameAll || r.nameFits(p.Name)) {
		return p.Name
	}
	base := r.repairName(p.Name)
	name := base
	for n := 2; r.isTaken(name) || reserved && name == p.Name; n++ {
		suffix := "_" + string(number(n))
		name = cut(base, rules.NameMax-len(suffix)) + suffix
	}
	r.taken[name] = true
	r.lose(Encoded, r.form.At, "properties", "%q is written as %q", p.Name, name)
	if more := r.object.Additional; (more == nil || more.Kinds != 0) && !rules.Closed {
		r.lose(Narrowed, r.form.At, "additionalProperties", "no other member can have the name that stands for a property")
		r.lose(Checked, r.form.At, "additionalProperties", "an object with both names of a property is rejected")
	}
	return name
}

// withName returns f with the name that it had in its description, if that was
// another one, which said more than its ASCII letters and digits do.
func (r *record) withName(f *form.Form, p property) *form.Form {
	letter := func(c rune) bool { return c > unicode.MaxASCII && unicode.IsLetter(c) }
	if !p.renamed || len(p.name) > maxDescribed || !strings.ContainsFunc(p.name, letter) {
		return f
	}
	told := *f
	told.Notes.Description = addSentence(f.Notes.Description, fmt.Sprintf("Its name is %q.", p.name))
	return &told
}

// isTaken reports whether a name is in use.
func (r *record) isTaken(name string) bool {
	if r.taken == nil {
		r.taken = make(map[string]bool, len(r.object.Properties))
		for _, p := range r.object.Properties {
			r.taken[p.Name] = true
		}
	}
	return r.taken[name]
}

// additional writes what the form says of undeclared members.
func (r *record) additional() {
	said := r.object.Additional
	closed := said != nil && said.Kinds == 0
	patterns := r.form.Keeps("patternProperties")
	switch {
	case r.rules.Object.Closed:
		r.hold(said, patterns || said != nil && !closed)
	case said == nil:
	case patterns && !r.allows("patternProperties"):
		r.lose(Widened, r.form.At, "additionalProperties", "other members are not excluded, because patternProperties allows some")
	case closed:
		r.close()
	case r.allows("additionalProperties") && r.rules.Object.Maps == "":
		r.writeAdditional(said)
	default:
		r.more(said)
	}
}

// hold closes the object. Other members that may be there are held by a property.
func (r *record) hold(said *form.Form, others bool) {
	switch {
	case others:
		r.more(said)
	case said == nil:
		r.lose(Noop, r.form.At, "additionalProperties", "members that are not declared cannot be written")
	}
	r.close()
}

// close forbids other members.
func (r *record) close() {
	if !r.allows("additionalProperties") {
		r.lose(Dropped, r.form.At, "additionalProperties", notStated)
		return
	}
	r.node.set("additionalProperties", json.RawMessage("false"))
}

// writeAdditional writes the schema of undeclared members.
func (r *record) writeAdditional(said *form.Form) {
	n, c := r.write(said, r.at.inside())
	r.codec.rest = c
	if said.Any() && (len(n.members) == 0 || r.rules.Object.NoEmptyMaps) {
		if len(n.members) > 0 {
			r.lose(Noop, said.At, n.members[0].name, "an annotation of members of any name; written as true")
		}
		r.node.set("additionalProperties", json.RawMessage("true"))
		return
	}
	r.node.put(member{name: "additionalProperties", node: n})
}

// more writes other members as one property that holds them.
func (r *record) more(said *form.Form) {
	if said == nil || said.Kinds == 0 { // but some fit a pattern
		said = &form.Form{At: r.form.At, Kinds: jsontree.KindAny}
	}
	name := "more"
	for n := 2; r.isTaken(name); n++ {
		name = "more_" + string(number(n))
	}
	held := &form.Form{At: r.form.At, Kinds: jsontree.KindObject, Object: &form.Object{Additional: said, MaxProperties: -1}}
	r.lose(Checked, r.form.At, "additionalProperties", "other members are written in the property %q", name)
	here := r.at.inside()
	here.optional = true
	n, c := writeObject(r.lowering, held, here)
	n.addSentence("Further members.")
	annotate(r.lowering, r.form.At, &form.Notes{}, n, c)
	all := r.rules.Object.AllRequired
	if all {
		n, c = orAbsent(r.lowering, n, c)
		r.need = append(r.need, name)
	}
	r.table = append(r.table, entry{name, n})
	r.codec.more, r.codec.moreCodec, r.codec.moreNull = name, c, all
}

// sizes writes how many members there may be.
func (r *record) sizes() {
	shifted := r.rules.Object.AllRequired || r.codec.more != ""
	for _, b := range []struct {
		keyword string
		n       int
		set     bool
		words   string
	}{
		{"minProperties", r.object.MinProperties, r.object.MinProperties > 0, "At least "},
		{"maxProperties", r.object.MaxProperties, r.object.MaxProperties >= 0, "At most "},
	} {
		switch sentence := b.words + count(b.n, "member") + "."; {
		case !b.set:
		case shifted:
			describe(r.lowering, r.node, r.form.At, b.keyword, sentence)
		default:
			constrain(r.lowering, r.node, r.form.At, b.keyword, number(b.n), sentence)
		}
	}
}
