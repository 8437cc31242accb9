package lower

import (
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeOptional writes a property that takes null for being left out.
func writeOptional(l *lowering, f *form.Form, at place) (*node, codec) {
	if f.Any() && l.rules.Untyped == "json" { // null itself is the text "null"
		n, c := l.write(f, at)
		n, _ = orAbsent(l, n, nil)
		return n, c
	}
	meant := f
	if f.Ref != nil {
		meant = f.Ref.Form
	}
	if meant.Kinds&jsontree.KindNull != 0 && !isNull(f.Notes.Default) {
		wrapped := &form.Form{At: f.At, Kinds: jsontree.KindObject, Object: &form.Object{
			Properties: []form.Property{{Name: "value", Form: f, Required: true}}, Additional: &form.Form{}, MaxProperties: -1,
		}}
		l.reshape(Encoded, f.At, `null leaves the property out; {"value":null} is null`)
		n, c := writeObject(l, wrapped, at)
		n, c = orAbsent(l, n, c)
		return n, join(memberCodec("value"), c)
	}
	n, c := l.write(f, at)
	if _, text := c.(jsonCodec); f.Kinds&jsontree.KindNull != 0 && !text {
		return n, c
	}
	return orAbsent(l, n, c)
}

// orAbsent lets n take null for being left out.
func orAbsent(l *lowering, n *node, c codec) (*node, codec) {
	var told []byte
	if m := n.get("description"); m != nil {
		told = m.raw
	}
	n, c = orNull(l, "", n, c)
	if inner := n.get("anyOf"); told != nil && inner != nil && n.get("description") == nil && l.misplacedAnnotations(n) == nil {
		inner.list[0].drop("description") // it belongs to the property, not to one of its alternatives
		n.set("description", told)
	}
	return n, c
}

// writeValue writes a value as the member "value" of an object.
func writeValue(l *lowering, inner *node, c codec) (*node, codec) {
	n := l.typeNode("object")
	n.put(member{name: "properties", table: []entry{{"value", inner}}})
	n.set("required", names([]string{"value"}))
	if l.allows("additionalProperties") {
		n.set("additionalProperties", json.RawMessage("false"))
	}
	return n, join(c, memberCodec("value"))
}

// A memberCodec writes a value as the member of that name of an object.
type memberCodec string

func (c memberCodec) decode(x *trip, dst []byte) []byte {
	if value, ok := x.only(string(c)); ok {
		return append(dst, value...)
	}
	src := x.value()
	if !isNull(src) {
		x.note("the enclosing object with " + strconv.Quote(string(c)) + " was missing")
	}
	return append(dst, src...)
}

func (c memberCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	return append(append(append(appendQuoted(append(dst, '{'), string(c)), ':'), src...), '}'), true
}

func (c memberCodec) seenPath(path []string) []string { return append([]string{string(c)}, path...) }
