package accept

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A subject is one tool under examination, with the places of its schema.
type subject struct {
	Tool
	root    *value // nil: left out, or no JSON
	places  []*place
	at      map[*value]*place
	anchors map[string]*place
	targets map[string]*place // of references
	where   string            // before pointers
	found   *[]Violation
	count   int  // violations so far
	cut     bool // values that are too deep are left out
}

const (
	deepest = 200 // no target takes schemas like that, and long pointers cost
	enough  = 200 // violations of one tool
)

// A place is one subschema. Members of properties are names, not keywords, so
// that a property called type or required is nothing special.
type place struct {
	v        *value
	via      string // the keyword that holds it, "" for the root
	name     string // the property's, definition's…; or the index
	parent   *place
	children []*place
	target   *place // of $ref, nil if there is none or it points to nothing
	depth    int
}

var (
	holdsOne  = strings.Fields("items additionalItems contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties contentSchema")
	holdsMany = strings.Fields("allOf anyOf oneOf prefixItems items")
	holdsMap  = strings.Fields("properties patternProperties $defs definitions dependentSchemas dependencies")
)

func newSubject(t Tool, found *[]Violation) *subject {
	s := &subject{Tool: t, found: found}
	if t.Input != nil {
		s.read(t.Input)
	}
	return s
}

// output returns the tool's output schema as a subject of its own.
func (s *subject) output() *subject {
	o := &subject{Tool: s.Tool, found: s.found, where: "output"}
	if s.Output != nil {
		o.read(s.Output)
	}
	return o
}

func (s *subject) read(raw []byte) {
	v, err := parse(raw)
	if err != nil {
		s.addAt("", "json", "%v", err)
		return
	}
	s.root = v
	s.at, s.anchors, s.targets = map[*value]*place{}, map[string]*place{}, map[string]*place{}
	s.walk(&place{v: v})
	for _, p := range s.places {
		if ref := p.v.get("$ref"); ref != nil && ref.kind == text {
			p.target = s.resolve(ref.text)
		}
	}
}

func (s *subject) walk(p *place) {
	s.places = append(s.places, p)
	s.at[p.v] = p
	if a := p.v.get("$anchor"); a != nil && a.kind == text {
		s.anchors[a.text] = p
	}
	for _, m := range p.v.members {
		switch {
		case m.value.kind == array && slices.Contains(holdsMany, m.name):
			for i, item := range m.value.items {
				s.child(p, m.name, strconv.Itoa(i), item)
			}
		case m.value.kind == object && slices.Contains(holdsMap, m.name):
			for _, named := range m.value.members {
				if named.value.kind != array { // dependencies may hold names
					s.child(p, m.name, named.name, named.value)
				}
			}
		case slices.Contains(holdsOne, m.name):
			s.child(p, m.name, "", m.value)
		}
	}
}

func (s *subject) child(parent *place, via, name string, v *value) {
	p := &place{v: v, via: via, name: name, parent: parent, depth: parent.depth + 1}
	if p.depth > deepest {
		s.add(parent, "depth", "deeper than %d", deepest)
		s.cut = true
		return
	}
	parent.children = append(parent.children, p)
	s.walk(p)
}

// resolve finds what a reference in the schema itself points to.
func (s *subject) resolve(ref string) *place {
	p, known := s.targets[ref]
	if !known {
		p = s.find(ref)
		s.targets[ref] = p
	}
	return p
}

func (s *subject) find(ref string) *place {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	if fragment != "" && fragment[0] != '/' {
		return s.anchors[fragment]
	}
	v := s.root
	for _, token := range strings.Split(fragment, "/")[1:] {
		if v = step(v, jsontree.UnescapePointer(token)); v == nil {
			return nil
		}
	}
	return s.at[v]
}

func step(v *value, token string) *value {
	if v.kind == array {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.items) {
			return v.items[i]
		}
		return nil
	}
	return v.get(token)
}

func (p *place) pointer() string {
	var path []string
	for ; p.parent != nil; p = p.parent {
		if p.name != "" || slices.Contains(holdsMap, p.via) {
			path = append(path, p.name)
		}
		path = append(path, p.via)
	}
	slices.Reverse(path)
	return jsontree.Pointer(path)
}

func (s *subject) add(p *place, rule, format string, args ...any) {
	if s.count > enough {
		return
	}
	s.addAt(p.pointer(), rule, format, args...)
}

func (s *subject) addAt(pointer, rule, format string, args ...any) {
	if s.count++; s.count > enough {
		return
	}
	*s.found = append(*s.found, Violation{s.Name, s.where + pointer, rule, fmt.Sprintf(format, args...)})
}

// types returns the names in type, whether it is one or a list.
func (v *value) types() []string {
	t := v.get("type")
	if t != nil && t.kind == text {
		return []string{t.text}
	}
	all, _ := t.texts()
	return all
}

func (p *place) has(keyword string) bool { return p.v.get(keyword) != nil }

// properties returns the names and schemas of the properties.
func (v *value) properties() []member {
	if all := v.get("properties"); all.isObject() {
		return all.members
	}
	return nil
}

func (v *value) required() []string {
	all, _ := v.get("required").texts()
	return all
}

// optional reports whether p is a property that may be left out.
func (p *place) optional() bool {
	return p.via == "properties" && !slices.Contains(p.parent.v.required(), p.name)
}

// definition reports whether p only has a meaning where something refers to it.
func (p *place) definition() bool { return p.via == "$defs" || p.via == "definitions" }

// cycle finds a place that leads to itself through children that follow
// accepts, and through references.
func (s *subject) cycle(follow func(child *place) bool) *place {
	state := map[*place]int{}
	var visit func(*place) *place
	visit = func(p *place) *place {
		switch state[p] {
		case 1:
			return p
		case 2:
			return nil
		}
		state[p] = 1
		defer func() { state[p] = 2 }()
		for _, next := range p.next(follow) {
			if found := visit(next); found != nil {
				return found
			}
		}
		return nil
	}
	for _, p := range s.places {
		if found := visit(p); found != nil {
			return found
		}
	}
	return nil
}

// next lists the children that follow accepts, and what p refers to.
func (p *place) next(follow func(child *place) bool) []*place {
	var all []*place
	for _, c := range p.children {
		if !c.definition() && follow(c) {
			all = append(all, c)
		}
	}
	if p.target != nil {
		all = append(all, p.target)
	}
	return all
}
