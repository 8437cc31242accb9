package dialect

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema"
)

// Bounds of what is inspected, those of package schema. Above them a schema
// is reported, not read.
const (
	maxBytes   = 1 << 20
	maxNodes   = 10_000
	maxNesting = 64
)

// A document is a schema with the places of its subschemas. Names of
// properties are no keywords: what is a schema is told by its place.
type document struct {
	root    *node             // nil if it is no JSON, or too much of it
	nodes   []*node           // in source order, those that only references reach last
	names   map[string]*value // by $anchor, with "#", and by $id
	refs    []*node           // that hold references
	over    string            // what was too much, "" for nothing
	tooDeep bool              // it was the depth
	loops   [3][]int          // by extent and node, groups of nodes that lead to each other
}

// A node is one schema in a document: an object or a boolean.
type node struct {
	*value
	index    int // in the document's nodes
	parent   *node
	keyword  string       // the keyword that holds it, "" for the root
	token    string       // the rest of the way from the parent: "/id" of /properties/id
	required bool         // it is a property that is required
	kinds    schema.Kinds // of type, 0 if there is none
	nesting  int
	kids     []*node
	target   *node // of its $ref, nil if there is none
}

// inspect reads a schema. It never fails; the document tells what is wrong.
func inspect(raw []byte) *document {
	d := &document{}
	if len(raw) > maxBytes {
		d.over = fmt.Sprintf("the schema has %d bytes; the limit is %d", len(raw), maxBytes)
		return d
	}
	v, err := readValue(raw)
	if err != nil {
		d.over = "the schema cannot be read: " + err.Error()
		return d
	}
	d.root = &node{value: v}
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
	n.index, n.schema = len(d.nodes), n
	d.nodes = append(d.nodes, n)
	switch {
	case len(d.nodes) > maxNodes:
		d.over = fmt.Sprintf("the schema has more than %d subschemas", maxNodes)
	case n.nesting > maxNesting:
		d.over, d.tooDeep = fmt.Sprintf("the subschemas are nested more than %d levels deep", maxNesting), true
	}
	if d.over != "" {
		return
	}
	var required map[string]bool
	if n.get("properties") != nil {
		required = n.get("required").texts()
	}
	for _, k := range n.members() {
		switch k.name {
		case "type":
			n.kinds = kindsOf(k)
		case "$ref":
			d.refs = append(d.refs, n)
		case "$id", "$anchor":
			d.name(k, n.value)
		}
		d.below(n, k, required)
	}
}

func (d *document) name(k, v *value) {
	if d.names == nil {
		d.names = map[string]*value{}
	}
	name := k.text
	if k.name == "$anchor" {
		name = "#" + name
	}
	if d.names[name] == nil {
		d.names[name] = v
	}
}

// below enters the schemas that a keyword of n holds.
func (d *document) below(n *node, k *value, required map[string]bool) {
	list := k.kind == '['
	switch s := shape.Of(k.name); {
	case s == shape.Schema, s == shape.Items && !list:
		d.kid(n, k, k, "", false)
	case s == shape.Table, s == shape.Dependencies:
		for _, v := range k.members() {
			d.kid(n, k, v, "/"+escapePointer(v.name), required[v.name] && k.name == "properties")
		}
	case s == shape.Schemas, s == shape.Items:
		for i, v := range k.items() {
			d.kid(n, k, v, "/"+strconv.Itoa(i), false)
		}
	}
}

// kid enters v as a schema that the keyword k of n holds.
func (d *document) kid(n *node, k, v *value, token string, required bool) {
	if !v.isSchema() || d.over != "" || v.schema != nil {
		return
	}
	kid := &node{value: v, parent: n, keyword: k.name, token: token, required: required, nesting: n.nesting + 1}
	n.kids = append(n.kids, kid)
	d.enter(kid)
}

// resolve finds the target of a reference, and enters it if no keyword leads
// to it.
func (d *document) resolve(n *node) {
	ref := n.get("$ref")
	v := d.find(ref.text)
	if ref.kind != '"' || v == nil || !v.isSchema() {
		return
	}
	if v.schema == nil {
		_, fragment, _ := strings.Cut(ref.text, "#")
		fragment, _ = url.PathUnescape(fragment) // find has done it
		d.enter(&node{value: v, parent: d.root, token: fragment, nesting: 1})
	}
	n.target = v.schema
}

// find returns what a reference points to, nil if it is not in the document.
func (d *document) find(ref string) *value {
	base, fragment, _ := strings.Cut(ref, "#")
	v := d.root.value
	if base != "" {
		if v = d.names[base]; v == nil {
			return nil
		}
	}
	fragment, err := url.PathUnescape(fragment)
	switch {
	case err != nil:
		return nil
	case fragment == "":
		return v
	case fragment[0] != '/':
		return d.names["#"+fragment]
	}
	for token := range strings.SplitSeq(fragment[1:], "/") {
		if v = v.child(unescapePointer(token)); v == nil {
			return nil
		}
	}
	return v
}

// pointer returns the JSON pointer of n in its document.
func (n *node) pointer() string {
	var parts []string
	for ; n.parent != nil; n = n.parent {
		part := n.token
		if n.keyword != "" {
			part = "/" + escapePointer(n.keyword) + n.token
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// object and array say that n describes objects or arrays.
func (n *node) object() bool {
	return n.kinds&schema.KindObject != 0 || n.get("properties") != nil && n.kinds == 0
}

func (n *node) array() bool {
	return n.kinds&schema.KindArray != 0 || n.get("items") != nil && n.kinds == 0
}

// follow returns what references lead to, in the end.
func (n *node) follow() *node {
	for range maxNesting {
		if n.target == nil {
			return n
		}
		n = n.target
	}
	return n
}

func escapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func unescapePointer(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// kindsOf returns the types that a type keyword names.
func kindsOf(v *value) schema.Kinds {
	if v.kind == '"' {
		return kindOf(v.text)
	}
	var kinds schema.Kinds
	for _, item := range v.items() {
		kinds |= kindOf(item.text)
	}
	return kinds
}

// kindOf reads the name of a type. OpenAPI has them in capitals.
func kindOf(name string) schema.Kinds {
	switch name {
	case "null", "NULL":
		return schema.KindNull
	case "boolean", "BOOLEAN":
		return schema.KindBoolean
	case "integer", "INTEGER":
		return schema.KindInteger
	case "number", "NUMBER":
		return schema.KindNumber
	case "string", "STRING":
		return schema.KindString
	case "array", "ARRAY":
		return schema.KindArray
	case "object", "OBJECT":
		return schema.KindObject
	}
	return 0
}
