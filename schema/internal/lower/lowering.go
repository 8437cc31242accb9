package lower

import (
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// Bounds on the work for one schema. Beyond them a part becomes JSON text.
const (
	maxNodes  = 4000
	maxTries  = 6
	maxDepth  = 60
	maxGrowth = 6    // times the original's size, which leaves room for what wraps it
	maxSmall  = 2000 // bytes that are never too many
)

// bounds are what an attempt keeps to.
type bounds struct {
	levels int // of objects and arrays
	nodes  int // schemas
	unroll int // how often a recursive definition is written inside itself
}

// A lowering turns the form of one schema into what a reader accepts.
type lowering struct {
	*reader
	*report
	bounds
	definitions
	headers map[string]bool // names of x-mcp-header, in small letters
	written int             // schemas, so far
	merging int             // alternatives being merged
}

func newLowering(r *reader, src *source, limits bounds) *lowering {
	return &lowering{
		reader: r, report: newReport(src), bounds: limits,
		definitions: definitions{shared: map[*form.Def]*sharedDef{}, open: map[*form.Def]int{}},
		headers:     map[string]bool{},
	}
}

// document writes a whole schema; its losses are in the report.
func (l *lowering) document(doc *form.Document) *Result {
	for _, c := range doc.Changes {
		kind := Noop
		switch {
		case c.Lost:
			kind = Dropped
		case c.Keyword == "nullable": // not JSON Schema: by the letter, null does not fit
			kind = Widened
		}
		l.lose(kind, c.At, c.Keyword, "%s", c.Detail)
	}
	n, c := writeRoot(l, doc.Root)
	if len(l.defs) > 0 {
		n.put(member{name: l.defsKeyword(), table: l.defs})
	}
	if trivial(c, map[*reference]bool{}) {
		c = nil
	}
	r := &Result{Codec: &Codec{root: c}}
	if !l.rules.Root.OmitEmpty || !isEmptyObject(n) {
		r.Schema = n.append(nil)
	}
	return r
}

// isEmptyObject reports whether n describes a tool without arguments.
func isEmptyObject(n *node) bool {
	p := n.get("properties")
	return p == nil || len(p.table) == 0
}

// limit reports a schema that is too large for the reader as a whole.
func (l *lowering) limit(c Counts) {
	limits := l.rules.Limits
	for _, over := range []struct {
		what         string
		count, limit int
	}{
		{"properties", c.Properties, limits.Properties},
		{"enum values", c.EnumValues, limits.EnumValues},
		{"characters in names and values", c.Runes, limits.Runes},
		{"bytes", c.Bytes, limits.Bytes},
	} {
		if over.limit > 0 && over.count > over.limit {
			l.reshape(Rejected, "", "%d %s, the limit is %d", over.count, over.what, over.limit)
		}
	}
}

// A place is where a schema is being written.
type place struct {
	depth    int  // levels of objects and arrays above
	root     bool // it is the outermost schema
	optional bool // an optional property is on the way from the root, or the definition
}

func (at place) inside() place {
	return place{depth: at.depth + 1, optional: at.optional}
}

// write writes f, whatever it says, with its annotations.
func (l *lowering) write(f *form.Form, at place) (*node, codec) {
	l.written++
	var n *node
	var c codec
	switch {
	case l.written > l.nodes || l.tooDeep(f, at):
		l.reshape(Checked, f.At, "too deep or too large here; written as a string of JSON")
		return writeText(l, f)
	case f.Ref != nil:
		return writeRef(l, f, at)
	case f.Alts != nil:
		n, c = writeUnion(l, f, at)
	case f.Any():
		n, c = writeAny(l, f)
	case f.Kinds == 0:
		n = writeNever(l, f)
	default:
		n, c = writeKinds(l, f, at)
	}
	writeRest(l, f, n, c)
	annotate(l, f.At, &f.Notes, n, c)
	return n, c
}

// tooDeep reports whether f would be a level too many.
func (l *lowering) tooDeep(f *form.Form, at place) bool {
	return at.depth >= l.levels && (f.Ref != nil || f.Kinds&nested != 0)
}

// writeAny writes a schema that takes anything.
func writeAny(l *lowering, f *form.Form) (*node, codec) {
	if l.rules.Untyped == "json" {
		l.reshape(Encoded, f.At, "a value of any type is written as a string of JSON")
		return jsonText(l.reader, "Any value, written as JSON text."), jsonCodec{lenient: true}
	}
	return &node{}, nil
}

// writeNever writes a schema that nothing fits, where one must be written.
func writeNever(l *lowering, f *form.Form) *node {
	if l.rules.Booleans || l.allows("not") && !l.rules.TypeRequired && l.rules.Union.Siblings == nil {
		return &node{members: []member{{name: "not", node: &node{}}}}
	}
	l.reshape(Widened, f.At, "no value matches; this cannot be expressed")
	n := l.typeNode("string")
	n.addSentence("Never use this.")
	return n
}

// writeKinds writes a schema by what it says for each type.
func writeKinds(l *lowering, f *form.Form, at place) (*node, codec) {
	null := f.Kinds&jsontree.KindNull != 0
	types := typesOf(f.Kinds &^ jsontree.KindNull)
	var n *node
	var c codec
	switch {
	case len(types) == 0:
		return writeNull(l, f)
	case null && l.rules.Null == "none" && len(types) > 1 && f.Kinds&nested == 0:
		return writeScalars(l, f, append(types, "null"))
	case len(types) == 1:
		n, c = writeSingle(l, f, types[0], at)
	default:
		n, c = writeSeveral(l, f, types, at)
	}
	if null {
		return orNull(l, f.At, n, c)
	}
	return n, c
}

// writeSingle writes what f says for one type.
func writeSingle(l *lowering, f *form.Form, name string, at place) (*node, codec) {
	if list := enumOf(f, kindsOf(name)); list != nil {
		return writeEnum(l, f, name, list)
	}
	switch name {
	case "string":
		return writeString(l, f), nil
	case "integer", "number":
		return writeNumber(l, f, name), nil
	case "array":
		return writeArray(l, f, at)
	case "object":
		return writeObject(l, f, at)
	}
	return l.typeNode(name), nil
}

// writeSeveral writes what f says for more than one type.
func writeSeveral(l *lowering, f *form.Form, types []string, at place) (*node, codec) {
	all := kindsOf(types...)
	if f.Enum != nil && f.Enum.Kinds&all == all {
		return writeMixedEnum(l, f, enumOf(f, all))
	}
	if l.rules.Union.None {
		return writeSeveralAsOne(l, f, types, at)
	}
	nodes := make([]*node, len(types))
	branches := &branchCodec{}
	plain := true
	for i, name := range types {
		only := *f
		only.Kinds = kindsOf(name)
		var c codec
		nodes[i], c = writeSingle(l, &only, name, at)
		branches.add(nodes[i], &only, c)
		plain = plain && c == nil && nodes[i].typeName() != ""
	}
	if plain && !l.rules.Union.NoList {
		if n := mergeTypes(nodes); n != nil {
			return n, nil
		}
	}
	for _, n := range nodes {
		annotate(l, "", &form.Notes{}, n, nil)
	}
	c := branches.finish(l, f.At, nodes)
	return &node{members: []member{{name: "anyOf", list: nodes}}}, c
}

// mergeTypes writes the schemas of several types as one with a list of types,
// nil if they say different things by one keyword.
func mergeTypes(nodes []*node) *node {
	var types []string
	n := &node{members: []member{{name: "type"}}}
	for _, one := range nodes {
		types = append(types, one.typeName())
		n.told = append(n.told, one.told...)
		for _, m := range one.members {
			switch {
			case m.name == "type":
			case m.name == "enum", n.get(m.name) != nil:
				return nil
			default:
				n.put(m)
			}
		}
	}
	n.set("type", names(types))
	return n
}
