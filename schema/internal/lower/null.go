package lower

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeNull writes a schema that takes null only.
func writeNull(l *lowering, f *form.Form) (*node, codec) {
	if l.rules.Null != "none" {
		return l.typeNode("null"), nil
	}
	l.reshape(Encoded, f.At, "null is written as a string")
	return writeTable(l, f.At, []json.RawMessage{json.RawMessage("null")})
}

// orNull lets n take null too.
func orNull(l *lowering, at string, n *node, c codec) (*node, codec) {
	if c != nil {
		c = nullCodec{c}
	}
	switch l.rules.Null {
	case "none":
		l.reshape(Narrowed, at, "null cannot be written; leave the value out")
	case "keyword":
		n.set("nullable", json.RawMessage("true"))
	default:
		n.addNull(!l.rules.Union.NoList)
	}
	return n, c
}

// addNull lets n take null: in its list of types if it may have one, else as
// an alternative.
func (n *node) addNull(list bool) {
	enum, types := n.get("enum"), n.types()
	switch {
	case n.get("anyOf") != nil:
		m := n.get("anyOf")
		m.list = append(m.list, typeNode("null"))
	case len(n.members) == 0, enum != nil && slices.ContainsFunc(enum.elements(), isNull): // it takes null
	case list && types != nil && enum == nil && n.typeName() != "object":
		n.set("type", names(append(types, "null")))
	default:
		inner := &node{members: n.members}
		n.members = []member{{name: "anyOf", list: []*node{inner, typeNode("null")}}}
	}
}

// A nullCodec leaves null as it is.
type nullCodec struct{ codec }

func (c nullCodec) decode(x *trip, dst []byte) []byte {
	if x.skip("null") {
		return append(dst, "null"...)
	}
	return c.codec.decode(x, dst)
}

func (c nullCodec) encode(x *trip, dst, src []byte) ([]byte, bool) {
	if isNull(src) {
		return append(dst, src...), true
	}
	return c.codec.encode(x, dst, src)
}
