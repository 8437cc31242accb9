package lower

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeMap writes an object whose members may have any name.
func writeMap(l *lowering, f *form.Form, o *form.Object, at place) (*node, codec) {
	free := o.Additional == nil || o.Additional.Any()
	maps := l.rules.Object.Maps
	if maps == "" && !l.rules.Object.Closed && (l.allows("additionalProperties") || free) {
		r := &record{lowering: l, form: f, object: o, at: at, node: l.typeNode("object"), codec: &objectCodec{}}
		switch {
		case o.Additional != nil && l.allows("additionalProperties"):
			r.writeAdditional(o.Additional)
		case o.Additional == nil && l.rules.Object.OpenMaps:
			r.node.set("additionalProperties", json.RawMessage("true"))
		}
		r.sizes()
		return r.node, r.codec.finish()
	}
	keyword := l.first(f.At, "additionalProperties", "type")
	if free || maps != "pairs" {
		l.reshapeOf(Checked, f.At, keyword, "an object with members of any name is written as a string of JSON")
		return jsonText(l.reader, "A JSON object, written as JSON text."), jsonCodec{}
	}
	l.reshapeOf(Checked, f.At, keyword, "an object with members of any name is written as a list of keys and values; a key given twice is an error")
	n, c := writeArray(l, pairsOf(f.At, o), at)
	return n, join(pairsCodec{}, c)
}

// pairsOf describes an object as a list of its members.
func pairsOf(at string, o *form.Object) *form.Form {
	pair := &form.Form{At: at, Kinds: jsontree.KindObject, Object: &form.Object{
		Properties: []form.Property{
			{Name: "key", Form: &form.Form{At: at, Kinds: jsontree.KindString}, Required: true},
			{Name: "value", Form: o.Additional, Required: true},
		},
		Additional: &form.Form{}, MaxProperties: -1,
	}}
	return &form.Form{At: at, Kinds: jsontree.KindArray, Array: &form.Array{
		Items: pair, MinItems: o.MinProperties, MaxItems: o.MaxProperties,
	}}
}

// A pairsCodec writes an object as a list of its members.
type pairsCodec struct{}

func (pairsCodec) decode(x *trip, dst []byte) []byte {
	src := x.value()
	list, ok := elements(src)
	if !ok {
		return append(dst, src...)
	}
	w := objectWriter{dst: []byte{'{'}, ok: true}
	for _, item := range list {
		pair, ok := fields(item)
		var key string
		var value []byte
		for _, f := range pair {
			switch f.name {
			case "key":
				key, ok = unquote(f.value)
			case "value":
				value = f.value
			}
		}
		if !ok || value == nil || len(pair) != 2 {
			return append(dst, src...)
		}
		w.put(key, nil, value) // a key given twice is found by validation
	}
	return append(dst, append(w.dst, '}')...)
}

func (pairsCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	all, ok := fields(src)
	if !ok {
		return dst, false
	}
	dst = append(dst, '[')
	for i, f := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(append(dst, `{"key":`...), f.name), `,"value":`...)
		dst = append(append(dst, f.value...), '}')
	}
	return append(dst, ']'), true
}

func (pairsCodec) seenPath(path []string) []string { return nil }
