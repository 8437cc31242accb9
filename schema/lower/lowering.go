package lower

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// Bounds on the work for one schema. Beyond them a part becomes JSON text.
const (
	maxNodes  = 4000
	maxDepth  = 60
	maxGrowth = 6    // times the original's size, which leaves room for what wraps it
	maxSmall  = 2000 // bytes that are never too many
)

// A lowering turns the form of one schema into what the rules accept.
type lowering struct {
	rules   *Rules
	allowed map[string]bool // keywords; nil is all
	source  *source
	losses  []Loss
	said    map[Loss]bool
	defs    []entry // definitions written so far
	shared  map[*schema.Def]*sharedDef
	open    map[*schema.Def]int // definitions being inlined, and how often
	unroll  int                 // how often a recursive definition is inlined
	headers map[string]bool     // names of x-mcp-header, in small letters
	nodes   int
	levels  int            // of objects and arrays that may be written
	merging int            // alternatives being merged
	name    *regexp.Regexp // of property names, nil for any
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

func newLowering(src *source, rules *Rules, unroll, levels int) *lowering {
	l := &lowering{
		rules: rules, source: src, unroll: unroll, levels: levels,
		said: map[Loss]bool{}, shared: map[*schema.Def]*sharedDef{}, open: map[*schema.Def]int{},
		headers: map[string]bool{},
	}
	if rules.Keywords != nil {
		l.allowed = map[string]bool{}
		for _, k := range rules.Keywords {
			l.allowed[k] = true
		}
	}
	if rules.Object.Name != "" {
		l.name, _ = regexp.Compile(rules.Object.Name) // a dialect is checked when it is read
	}
	return l
}

func (l *lowering) allows(keyword string) bool {
	return (l.allowed == nil || l.allowed[keyword]) && !slices.Contains(l.rules.Without, keyword)
}

// lose reports a loss, once.
func (l *lowering) lose(kind Kind, at, keyword, format string, args ...any) {
	loss := Loss{at, keyword, kind, fmt.Sprintf(format, args...)}
	if !l.said[loss] {
		l.said[loss] = true
		l.losses = append(l.losses, loss)
	}
}

// schema writes f.
func (l *lowering) schema(f *schema.Form, at place) (*node, codec) {
	l.nodes++
	var n *node
	var c codec
	switch {
	case l.nodes > maxNodes || l.tooDeep(f, at):
		l.lose(Checked, f.At, l.source.keyword(f.At), "too deep or too large here; written as JSON text")
		return l.text(f)
	case f.Ref != nil:
		return l.ref(f, at)
	case f.Alts != nil:
		n, c = l.union(f, at)
	case f.Any():
		n, c = l.untyped(f)
	case f.Kinds == 0:
		n = l.never(f)
	default:
		n, c = l.kinds(f, at)
	}
	c = l.rest(f, n, c)
	l.annotate(f, n, c)
	return n, c
}

// tooDeep says that f would be a level too many.
func (l *lowering) tooDeep(f *schema.Form, at place) bool {
	if f.Ref == nil && f.Kinds&(schema.KindArray|schema.KindObject) == 0 {
		return false
	}
	return at.depth >= l.levels
}

// untyped writes a schema that takes anything.
func (l *lowering) untyped(f *schema.Form) (*node, codec) {
	if l.rules.Untyped == "json" {
		l.lose(Encoded, f.At, l.source.keyword(f.At), "a value of any type is written as JSON text")
		return l.jsonText("Any value, written as JSON text."), jsonCodec{lenient: true}
	}
	return &node{}, nil
}

// text writes a schema as a string that holds JSON.
func (l *lowering) text(f *schema.Form) (*node, codec) {
	n := l.jsonText("Written as JSON text.")
	c := jsonCodec{lenient: f.Kinds&schema.KindString != 0}
	l.annotate(f, n, c)
	return n, c
}

func (l *lowering) jsonText(sentence string) *node {
	n := typed(l.typeName("string"))
	n.tell(sentence)
	return n
}

func (l *lowering) typeName(name string) string {
	if l.rules.Dialect == "openapi" {
		return strings.ToUpper(name)
	}
	return name
}

// never writes a schema that nothing fits, where one must be written.
func (l *lowering) never(f *schema.Form) *node {
	if l.rules.Booleans || l.allows("not") && !l.rules.TypeRequired && l.rules.Union.Siblings == nil {
		return &node{members: []member{{name: "not", node: &node{}}}}
	}
	l.lose(Widened, f.At, l.source.keyword(f.At), "no value fits; this cannot be said")
	n := typed(l.typeName("string"))
	n.tell("Never use this.")
	return n
}

// kinds writes a schema by what it says for each type.
func (l *lowering) kinds(f *schema.Form, at place) (*node, codec) {
	null := f.Kinds&schema.KindNull != 0
	types := typesOf(f.Kinds &^ schema.KindNull)
	var n *node
	var c codec
	switch {
	case len(types) == 0:
		return l.onlyNull(f)
	case null && l.rules.Null == "none" && len(types) > 1 && l.scalars(types):
		return l.scalarUnion(f, append(types, "null"))
	case len(types) == 1:
		n, c = l.single(f, types[0], at)
	default:
		n, c = l.several(f, types, at)
	}
	if null {
		n, c = l.nullable(f, n, c)
	}
	return n, c
}

// typesOf names the types of kinds, as a schema does.
func typesOf(k schema.Kinds) []string {
	var types []string
	for _, t := range []struct {
		kind schema.Kinds
		name string
	}{
		{schema.KindNull, "null"}, {schema.KindBoolean, "boolean"}, {schema.KindNumber, "number"},
		{schema.KindString, "string"}, {schema.KindArray, "array"}, {schema.KindObject, "object"},
	} {
		switch {
		case k&t.kind == 0:
		case t.name == "number" && k&schema.KindFraction == 0:
			types = append(types, "integer")
		default:
			types = append(types, t.name)
		}
	}
	return types
}

// kindsOf is the other way.
func kindsOf(name string) schema.Kinds {
	switch name {
	case "null":
		return schema.KindNull
	case "boolean":
		return schema.KindBoolean
	case "integer":
		return schema.KindInteger
	case "number":
		return schema.KindNumber
	case "string":
		return schema.KindString
	case "array":
		return schema.KindArray
	}
	return schema.KindObject
}

// kindOf returns the kind of a value. A number with a fraction of zero is an integer.
func kindOf(src []byte) schema.Kinds {
	if len(src) == 0 {
		return 0
	}
	switch src[0] {
	case '{':
		return schema.KindObject
	case '[':
		return schema.KindArray
	case '"':
		return schema.KindString
	case 't', 'f':
		return schema.KindBoolean
	case 'n':
		return schema.KindNull
	}
	if isInteger(string(src)) {
		return schema.KindInteger
	}
	return schema.KindFraction
}

// single writes what f says for one type.
func (l *lowering) single(f *schema.Form, name string, at place) (*node, codec) {
	if list := enumOf(f, kindsOf(name)); list != nil {
		return l.enum(f, name, list)
	}
	switch name {
	case "string":
		return l.string(f)
	case "integer", "number":
		return l.number(f, name)
	case "array":
		return l.array(f, at)
	case "object":
		return l.object(f, at)
	}
	return typed(l.typeName(name)), nil
}

// several writes what f says for more than one type.
func (l *lowering) several(f *schema.Form, types []string, at place) (*node, codec) {
	var all schema.Kinds
	for _, name := range types {
		all |= kindsOf(name)
	}
	if f.Enum != nil && f.Enum.Kinds&all == all {
		return l.mixedEnum(f, enumOf(f, all))
	}
	if l.rules.Union.None {
		return l.severalAsOne(f, types, at)
	}
	nodes := make([]*node, len(types))
	branches := &branchCodec{}
	plain := true
	for i, name := range types {
		only := *f
		only.Kinds = kindsOf(name)
		var c codec
		nodes[i], c = l.single(&only, name, at)
		branches.add(nodes[i], &only, c)
		plain = plain && c == nil && nodes[i].typeName() != ""
	}
	if plain && !l.rules.Union.NoList {
		if n := mergeTypes(nodes); n != nil {
			return n, nil
		}
	}
	for _, n := range nodes {
		l.annotate(&schema.Form{}, n, nil)
	}
	return &node{members: []member{{name: "anyOf", list: nodes}}}, branches.orNil()
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

func (l *lowering) scalars(types []string) bool {
	return !slices.Contains(types, "array") && !slices.Contains(types, "object")
}

// onlyNull writes a schema that takes null.
func (l *lowering) onlyNull(f *schema.Form) (*node, codec) {
	if l.rules.Null != "none" {
		return typed(l.typeName("null")), nil
	}
	l.lose(Encoded, f.At, l.source.keyword(f.At), "null is written as a text")
	return l.table(f, []json.RawMessage{json.RawMessage("null")})
}

// nullable lets n take null too.
func (l *lowering) nullable(f *schema.Form, n *node, c codec) (*node, codec) {
	if c != nil {
		c = orNull{c}
	}
	switch {
	case l.rules.Null == "none":
		l.lose(Narrowed, f.At, l.source.keyword(f.At), "null cannot be written; leave the value out")
	case l.rules.Null == "keyword":
		n.set("nullable", json.RawMessage("true"))
	case n.get("anyOf") != nil:
		m := n.get("anyOf")
		m.list = append(m.list, typed("null"))
	case len(n.members) == 0: // it takes anything
	case !l.rules.Union.NoList && n.get("enum") == nil && n.typeName() != "" && n.typeName() != "object":
		n.set("type", names([]string{n.typeName(), "null"}))
	case !l.rules.Union.NoList && n.get("enum") == nil && n.typeName() == "" && n.get("type") != nil:
		var types []string
		if json.Unmarshal(n.get("type").raw, &types) == nil {
			n.set("type", names(append(types, "null")))
		}
	default:
		inner := &node{members: n.members}
		n.members = []member{{name: "anyOf", list: []*node{inner, typed("null")}}}
	}
	return n, c
}
