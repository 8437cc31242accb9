package dialect

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// maxLevels is how deep objects and arrays may be nested, as encoding/json has it.
const maxLevels = 10_000

// A document is a schema with the places of its subschemas. A value
// is a schema because of its place: names of properties are not keywords.
type document struct {
	root    *node   // nil if it is not JSON, or too large
	nodes   []*node // in source order, those that only references reach last
	schemas map[*jsontree.Value]*node
	names   *shape.Index
	refs    []*node          // that hold references
	over    string           // what was too much, "" for nothing
	tooDeep bool             // it was the depth
	loops   [3]map[*node]int // by extent, groups of nodes that lead to each other
}

// A node is one schema in a document: an object or a boolean.
type node struct {
	*jsontree.Value
	index    int // in the document's nodes
	parent   *node
	keyword  string         // the keyword that holds it, "" for the root
	token    string         // the rest of the way from the parent: "/id" of /properties/id
	required bool           // it is a property that is required
	kinds    jsontree.Kinds // of type, 0 if there is none
	nesting  int
	kids     []*node
	target   *node // of its $ref, nil if there is none
}

// inspect reads a schema. It never fails: the document describes the errors.
func inspect(raw []byte) *document {
	d := &document{}
	if len(raw) > shape.MaxBytes {
		d.over = fmt.Sprintf("the schema has %d bytes; the limit is %d", len(raw), shape.MaxBytes)
		return d
	}
	v, broken := jsontree.ParseLenient(raw, maxLevels)
	if broken != nil {
		d.over = fmt.Sprintf("the schema cannot be read: expected %s at byte %d", broken.Expected, broken.Offset)
		return d
	}
	d.root = &node{Value: v}
	d.enter(d.root)
	for i := 0; i < len(d.refs) && d.over == ""; i++ { // enter may add more
		d.resolve(d.refs[i])
	}
	if d.over != "" { // only the root is looked at
		d.nodes, d.refs, d.root.kids, d.root.target = d.nodes[:1], nil, nil, nil
	}
	return d
}

// enter adds n and all schemas below it.
func (d *document) enter(n *node) {
	if d.schemas == nil {
		d.schemas = map[*jsontree.Value]*node{}
	}
	n.index, d.schemas[n.Value] = len(d.nodes), n
	d.nodes = append(d.nodes, n)
	switch {
	case len(d.nodes) > shape.MaxNodes:
		d.over = fmt.Sprintf("the schema has more than %d subschemas", shape.MaxNodes)
	case n.nesting > shape.MaxDepth:
		d.over, d.tooDeep = fmt.Sprintf("the subschemas are nested more than %d levels deep", shape.MaxDepth), true
	}
	if d.over != "" {
		return
	}
	var required map[string]bool
	if n.Get("properties") != nil {
		required = texts(n.Get("required"))
	}
	for _, k := range n.Members() {
		switch k.Name {
		case "type":
			n.kinds = kindsOf(k)
		case "$ref":
			d.refs = append(d.refs, n)
		}
		d.below(n, k, required)
	}
}

// below enters the schemas that a keyword of n holds.
func (d *document) below(n *node, k *jsontree.Value, required map[string]bool) {
	for token, v := range shape.Subschemas(k) {
		if d.over != "" || d.schemas[v] != nil {
			continue
		}
		kid := &node{
			Value: v, parent: n, keyword: k.Name, token: token,
			required: k.Name == "properties" && required[v.Name], nesting: n.nesting + 1,
		}
		n.kids = append(n.kids, kid)
		d.enter(kid)
	}
}

// resolve finds the target of a reference, and enters it if no keyword leads
// to it.
func (d *document) resolve(n *node) {
	if d.names == nil {
		d.names = shape.NewIndex(d.root.Value)
	}
	ref := n.Get("$ref")
	v := d.names.Find(n.Value, ref.Text)
	if ref.Kind != jsontree.KindString || v == nil {
		return
	}
	if d.schemas[v] == nil {
		d.names.Add(v)
		_, fragment, _ := strings.Cut(ref.Text, "#")
		fragment, _ = url.PathUnescape(fragment) // find has done it
		d.enter(&node{Value: v, parent: d.root, token: fragment, nesting: 1})
	}
	n.target = d.schemas[v]
}

// pointer returns the JSON pointer of n in its document.
func (n *node) pointer() string {
	var parts []string
	for ; n.parent != nil; n = n.parent {
		part := n.token
		if n.keyword != "" {
			part = "/" + jsontree.EscapePointer(n.keyword) + n.token
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// object and array say that n describes objects or arrays.
func (n *node) object() bool {
	return n.kinds&jsontree.KindObject != 0 || n.Get("properties") != nil && n.kinds == 0
}

func (n *node) array() bool {
	return n.kinds&jsontree.KindArray != 0 || n.Get("items") != nil && n.kinds == 0
}

// follow returns what references lead to, in the end.
func (n *node) follow() *node {
	for range shape.MaxDepth {
		if n.target == nil {
			return n
		}
		n = n.target
	}
	return n
}

// texts returns the strings in an array as a set.
func texts(v *jsontree.Value) map[string]bool {
	set := make(map[string]bool, len(v.Items()))
	for _, item := range v.Items() {
		if item.Kind == jsontree.KindString {
			set[item.Text] = true
		}
	}
	return set
}

// kindsOf returns the types that a type keyword names.
func kindsOf(v *jsontree.Value) jsontree.Kinds {
	kinds := kindOf(v.Text)
	for _, item := range v.Items() {
		kinds |= kindOf(item.Text)
	}
	return kinds
}

// kindOf reads the name of a type. OpenAPI has them in capitals.
func kindOf(name string) jsontree.Kinds {
	if name == strings.ToUpper(name) {
		name = strings.ToLower(name)
	}
	return jsontree.KindNamed(name)
}
