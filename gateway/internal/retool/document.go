package retool

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
)

// maxDepth limits how deep a schema is read: deeper parts stay as they are.
const maxDepth = 32

// A document is an input schema being rewritten. The parts that describe the
// arguments are its root and what applies to the same object: allOf, if, a $ref
// and the like.
type document struct {
	raw      json.RawMessage
	root     *jsontree.Value
	declared []string        // the names of all arguments, in order
	required map[string]bool // those that a call must have

	done    map[string]bool // the arguments whose own schema is changed
	inlined bool            // a reference was replaced by what it refers to
}

func newDocument(raw json.RawMessage) *document {
	d := &document{raw: raw, root: jsontree.Read(raw), required: map[string]bool{}}
	d.survey(d.root, true, 0)
	return d
}

// survey finds the arguments that part declares. Always reports whether part
// applies to every call.
func (d *document) survey(part *jsontree.Value, always bool, depth int) {
	if part == nil || part.Kind != jsontree.KindObject || depth > maxDepth {
		return
	}
	for _, p := range part.Get("properties").Members() {
		if !slices.Contains(d.declared, p.Name) {
			d.declared = append(d.declared, p.Name)
		}
	}
	for _, name := range part.Get("required").Items() {
		if always {
			d.required[name.Text] = true
		}
	}
	d.survey(d.target(part), always, depth+1)
	for _, k := range part.Members() {
		for _, other := range inPlace(k) {
			d.survey(other, always && k.Name == "allOf", depth+1)
		}
	}
}

// inPlace returns the schemas of a keyword that apply to the same object as the
// schema that has the keyword.
func inPlace(k *jsontree.Value) []*jsontree.Value {
	switch k.Name {
	case "allOf", "anyOf", "oneOf":
		return k.Items()
	case "dependentSchemas", "dependencies":
		return k.Members()
	case "if", "then", "else", "not":
		return []*jsontree.Value{k}
	}
	return nil
}

// target returns what the $ref of part refers to in the document, nil if there is
// none.
func (d *document) target(part *jsontree.Value) *jsontree.Value {
	ref := part.Get("$ref")
	if ref == nil {
		return nil
	}
	pointer, local := jsontree.LocalRef(ref.Text)
	if !local || pointer == "" {
		return nil
	}
	return d.root.At(pointer)
}

// rewrite returns the schema that clients see.
func (d *document) rewrite(p *plan) json.RawMessage {
	d.done = map[string]bool{}
	raw := d.part(d.raw, p, 0, true)
	var required []string
	for _, own := range d.declared {
		if c := p.changes[own]; c != nil && c.Required && !d.required[own] {
			required = append(required, p.clientName(own))
		}
	}
	if len(required) > 0 {
		raw = wire.Set(raw, "required", appendNames(wire.Get(raw, "required"), required))
	}
	return d.references(raw, p)
}

// part rewrites a schema that applies to the object of the arguments.
func (d *document) part(raw json.RawMessage, p *plan, depth int, root bool) json.RawMessage {
	if !wire.IsObject(raw) || depth > maxDepth {
		return raw
	}
	if !root && d.demands(wire.Get(raw, "required"), p) {
		return json.RawMessage("false")
	}
	raw = d.inline(raw, p, depth)
	return wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "properties":
			return d.properties(value, p)
		case "required":
			return p.rewriteRequired(value)
		case "dependentRequired", "dependentSchemas", "dependencies":
			return d.dependents(value, p, depth)
		case "allOf", "anyOf", "oneOf":
			return wire.EditElements(value, func(item json.RawMessage) json.RawMessage { return d.part(item, p, depth+1, false) })
		case "if", "then", "else", "not":
			return d.part(value, p, depth+1, false)
		}
		return value
	})
}

// demands reports whether a list of required arguments has one that is never
// given.
func (d *document) demands(required json.RawMessage, p *plan) bool {
	for name := range wire.Elements(required) {
		if c := p.changes[wire.Unquote(name)]; c != nil && c.Hide && c.Default == nil {
			return true
		}
	}
	return false
}

// inline replaces the $ref of a part that declares changed arguments.
func (d *document) inline(raw json.RawMessage, p *plan, depth int) json.RawMessage {
	ref := wire.Get(raw, "$ref")
	if ref == nil {
		return raw
	}
	pointer, local := jsontree.LocalRef(wire.Unquote(ref))
	target := d.root.At(pointer)
	if !local || pointer == "" || target == nil || target.Kind != jsontree.KindObject {
		return raw
	}
	found := &document{root: d.root, required: map[string]bool{}}
	found.survey(target, false, depth)
	if !slices.ContainsFunc(found.declared, func(name string) bool { return p.changes[name] != nil }) {
		return raw
	}
	d.inlined = true
	raw = wire.Delete(raw, "$ref")
	var members []string
	for name, value := range wire.Members(target.Raw) {
		if wire.Get(raw, name) != nil {
			list := slices.Collect(wire.Elements(wire.Get(raw, "allOf")))
			return wire.Set(raw, "allOf", array(append(list, target.Raw)))
		}
		members = append(members, string(wire.Quote(name))+":"+string(value))
	}
	return wire.Append(raw, members...)
}

// properties rewrites the schemas of arguments. The first schema of an argument
// gets its new texts.
func (d *document) properties(raw json.RawMessage, p *plan) json.RawMessage {
	var members []string
	for own, value := range wire.Members(raw) {
		c := p.changes[own]
		if c != nil && c.Hide {
			continue
		}
		if c != nil && !d.done[own] {
			d.done[own] = true
			value = changedSchema(c, value)
		}
		members = append(members, string(wire.Quote(p.clientName(own)))+":"+string(value))
	}
	return wire.Append(json.RawMessage("{}"), members...)
}

// changedSchema returns the schema of the argument after the change.
func changedSchema(c *config.ArgumentChange, raw json.RawMessage) json.RawMessage {
	var set []wire.Member
	switch {
	case c.Description == nil:
	case *c.Description == "":
		set = append(set, wire.Member{Name: "description"})
	default:
		set = append(set, wire.Member{Name: "description", Value: wire.Quote(*c.Description)})
	}
	if c.Type != nil {
		set = append(set, wire.Member{Name: "type", Value: c.Type})
	}
	if c.Default != nil || c.Required {
		set = append(set, wire.Member{Name: "default", Value: c.Default})
	}
	if c.Examples != nil {
		set = append(set, wire.Member{Name: "examples", Value: c.Examples})
	}
	if len(set) == 0 {
		return raw
	}
	return wire.SetAll(raw, set...)
}

// dependents rewrites what an argument requires when it is given.
func (d *document) dependents(raw json.RawMessage, p *plan, depth int) json.RawMessage {
	var members []string
	for own, value := range wire.Members(raw) {
		if c := p.changes[own]; c != nil && c.Hide {
			continue // the tool judges
		}
		if wire.IsObject(value) {
			value = d.part(value, p, depth+1, false)
		} else {
			value = p.rewriteRequired(value)
		}
		members = append(members, string(wire.Quote(p.clientName(own)))+":"+string(value))
	}
	return wire.Append(json.RawMessage("{}"), members...)
}

// rewriteRequired rewrites a list of required arguments: those that always have a value
// are left out.
func (p *plan) rewriteRequired(raw json.RawMessage) json.RawMessage {
	if !strings.HasPrefix(string(raw), "[") {
		return raw
	}
	var names []json.RawMessage
	for name := range wire.Elements(raw) {
		own := wire.Unquote(name)
		if c := p.changes[own]; c != nil && (c.Hide || c.Default != nil) {
			continue
		}
		if _, differs := p.shown[own]; differs {
			name = wire.Quote(p.clientName(own))
		}
		names = append(names, name)
	}
	return array(names)
}

// clientName returns the client's name of an argument.
func (p *plan) clientName(own string) string {
	if name, differs := p.shown[own]; differs {
		return name
	}
	return own
}

func array(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

func appendNames(list json.RawMessage, names []string) json.RawMessage {
	items := slices.Collect(wire.Elements(list))
	for _, name := range names {
		items = append(items, wire.Quote(name))
	}
	return array(items)
}
