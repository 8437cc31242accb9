package schema

import (
	"slices"
	"strconv"
	"strings"
)

// target returns what v refers to, nil if that is nothing, or not certain.
func (r *formReader) target(v *value) *value {
	if t := r.doc.refs[v]; t != nil {
		return t
	}
	all := r.doc.dynamic[v]
	if v.get("$ref") != nil || len(all) == 0 || slices.ContainsFunc(all, func(t *value) bool { return t != all[0] }) {
		return nil
	}
	return all[0]
}

// reference merges what v refers to into f.
func (r *formReader) reference(f *Form, v *value) *Form {
	t := r.target(v)
	for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		k := v.get(name)
		switch {
		case k == nil:
		case t == nil || name != "$ref" && v.get("$ref") != nil:
			f.rest(k, name)
		default:
			f = r.follow(f, k, t)
		}
	}
	return f
}

// follow merges the target t of the reference k into f.
func (r *formReader) follow(f *Form, k, t *value) *Form {
	def := r.defs[t]
	if def != nil {
		m, ok := r.merge(f, r.refer(def, t, f.At))
		if !ok {
			f.rest(k, k.name)
			return f
		}
		return m
	}
	g := r.form(t, r.at[t])
	mark := r.mark()
	m, ok := r.merge(f, g)
	if !ok {
		r.undo(mark)
		f.rest(k, k.name)
		return f
	}
	r.change(f.At, k.name, false, "what it refers to stands here")
	if f.free() {
		m.At = g.At
	} else {
		r.moved(g.At)
	}
	return m
}

// moved tells that the schema of a definition is merged into others.
func (r *formReader) moved(at string) {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		r.change(at[:i], unescapePointer(at[i+1:]), false, "merged with what refers to it")
	}
}

// refer returns a reference to a definition.
func (r *formReader) refer(def *Def, v *value, at string) *Form {
	r.fill(def, v)
	r.made++
	f := &Form{At: at, Ref: def}
	if def.Form != nil {
		f.Kinds = def.Form.Kinds
	} else {
		f.Kinds = r.kindsOf(v)
	}
	return f
}

// fill reads the form of a definition, unless that is done, or being done.
func (r *formReader) fill(def *Def, v *value) {
	if !r.filled[def] {
		r.filled[def] = true
		def.Form = r.form(v, r.at[v])
	}
}

// kindsOf returns the types of the values that fit v, or more.
func (r *formReader) kindsOf(v *value) Kinds {
	if v.kind == KindBoolean {
		return map[bool]Kinds{true: KindAny}[v.is("true")]
	}
	if kinds, ok := r.kinds[v]; ok {
		return kinds
	}
	r.kinds[v] = KindAny
	kinds := KindAny
	if t := r.target(v); t != nil {
		kinds &= r.kindsOf(t)
		if r.doc.draft <= 7 {
			r.kinds[v] = kinds
			return kinds
		}
	}
	for _, k := range v.kids {
		kinds &= r.kindsBy(k)
	}
	r.kinds[v] = kinds
	return kinds
}

// kindsBy returns the types that one keyword allows.
func (r *formReader) kindsBy(k *value) Kinds {
	kinds := KindAny
	switch k.name {
	case "type":
		return typeKinds(k)
	case "const":
		return k.kind
	case "allOf":
		for _, kid := range k.kids {
			kinds &= r.kindsOf(kid)
		}
	case "anyOf", "oneOf":
		kinds = 0
		for _, kid := range k.kids {
			kinds |= r.kindsOf(kid)
		}
	case "enum":
		kinds = 0
		for _, kid := range k.kids {
			kinds |= kid.kind
		}
	}
	return kinds
}

// A sharing finds the schemas that several references lead to, and those that
// lead back to themselves (Tarjan's strongly connected components).
type sharing struct {
	*formReader
	nodes map[*value]*shared
	stack []*value
}

// shared is what is known of one schema.
type shared struct {
	number, low int
	uses        int  // references that lead to it, and places that hold it
	open        bool // it is on the stack
	recursive   bool
}

// share makes definitions of the schemas that stay shared.
func (r *formReader) share() {
	if len(r.doc.refs) == 0 && len(r.doc.dynamic) == 0 {
		return
	}
	r.defs, r.at, r.kinds, r.filled = map[*value]*Def{}, map[*value]string{}, map[*value]Kinds{}, map[*Def]bool{}
	s := sharing{r, map[*value]*shared{}, nil}
	s.visit(r.doc.root)
	targets := map[*value]bool{}
	for v := range s.nodes {
		if t := r.target(v); t != nil {
			targets[t] = true
		}
	}
	r.locate(r.doc.root, targets, nil)
	names := map[string]bool{}
	for _, v := range r.order {
		if n := s.nodes[v]; n.recursive || n.uses > 1 {
			r.defs[v] = &Def{Name: unique(names, r.at[v]), Recursive: n.recursive}
		}
	}
}

// unique makes a name that is not taken yet of the end of a pointer.
func unique(taken map[string]bool, pointer string) string {
	base := unescapePointer(pointer[strings.LastIndexByte(pointer, '/')+1:])
	switch {
	case pointer == "":
		base = "root"
	case base == "":
		base = "def"
	}
	name := base
	for i := 2; taken[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// visit numbers v and what it leads to.
func (s *sharing) visit(v *value) *shared {
	n := &shared{number: len(s.nodes) + 1, open: true}
	n.low = n.number
	s.nodes[v] = n
	s.stack = append(s.stack, v)
	for _, next := range s.edges(v) {
		m := s.nodes[next]
		switch {
		case m == nil:
			m = s.visit(next)
			n.low = min(n.low, m.low)
		case m.open:
			n.low = min(n.low, m.number)
			m.recursive = true
		}
		m.uses++
	}
	if n.low == n.number {
		s.close(v)
	}
	return n
}

// close takes the component that v entered first off the stack.
func (s *sharing) close(v *value) {
	for alone := true; ; alone = false {
		last := len(s.stack) - 1
		w := s.stack[last]
		s.stack = s.stack[:last]
		n := s.nodes[w]
		n.open = false
		n.recursive = n.recursive || !alone || w != v
		if w == v {
			return
		}
	}
}

// edges returns the schemas that v holds or refers to, definitions left out.
func (s *sharing) edges(v *value) []*value {
	var all []*value
	if t := s.target(v); t != nil {
		all = append(all, t)
		if s.doc.draft <= 7 {
			return all
		}
	}
	for _, k := range v.kids {
		if k.name == "$defs" || k.name == "definitions" {
			continue
		}
		for _, sub := range subschemas(k) {
			all = append(all, sub)
		}
	}
	return all
}

// locate notes the pointers of the targets below v.
func (r *formReader) locate(v *value, targets map[*value]bool, path []string) {
	if targets[v] {
		r.at[v] = joinPointer(path)
		r.order = append(r.order, v)
	}
	for i, kid := range v.kids {
		token := strconv.Itoa(i)
		if v.kind == KindObject {
			token = r.doc.sourceName(kid)
		}
		if len(kid.kids) > 0 || kid.kind&(KindObject|KindBoolean) != 0 {
			r.locate(kid, targets, append(path, token))
		}
	}
}
