package lower

import (
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeTuple writes an array with items by position as an object.
func writeTuple(l *lowering, f *form.Form, a *form.Array, at place) (*node, codec) {
	o := &form.Object{Additional: &form.Form{}, MaxProperties: -1}
	for i, p := range a.Prefix {
		o.Properties = append(o.Properties, form.Property{Name: itemName(i), Form: p, Required: a.MinItems > i})
	}
	open := a.Items == nil || a.Items.Kinds != 0
	if open && (a.MaxItems < 0 || a.MaxItems > len(a.Prefix)) {
		items := a.Items
		if items == nil {
			items = &form.Form{At: f.At, Kinds: jsontree.KindAny}
		}
		rest := &form.Form{At: f.At, Kinds: jsontree.KindArray, Array: &form.Array{Items: items, MaxItems: -1}}
		o.Properties = append(o.Properties, form.Property{Name: restName, Form: rest})
	}
	kind := Encoded
	if a.MinItems != len(a.Prefix) || a.MaxItems > len(a.Prefix) || a.Unique {
		kind = Checked
	}
	l.reshapeOf(kind, f.At, l.first(f.At, "prefixItems", "items"), "items by position are written as members item0, item1…")
	n, c := writeObject(l, &form.Form{At: f.At, Kinds: jsontree.KindObject, Object: o}, at)
	return n, join(tupleCodec{len(a.Prefix)}, c)
}

const restName = "rest"

func itemName(i int) string { return "item" + strconv.Itoa(i) }

// A tupleCodec writes an array as an object.
type tupleCodec struct{ prefix int }

func (c tupleCodec) decode(x *trip, dst []byte) []byte {
	src := x.value()
	all, ok := fields(src)
	if !ok {
		return append(dst, src...)
	}
	list, ok := c.items(all)
	if !ok {
		return append(dst, src...)
	}
	return appendList(dst, list)
}

// items returns the items of the array that the members stand for; ok is false
// if one is missing before another, or a member stands for none.
func (c tupleCodec) items(all []field) (list [][]byte, ok bool) {
	byName := make(map[string][]byte, len(all))
	for _, f := range all {
		byName[f.name] = f.value
	}
	for len(list) < c.prefix && byName[itemName(len(list))] != nil {
		list = append(list, byName[itemName(len(list))])
	}
	used := len(list)
	if value := byName[restName]; value != nil {
		used++
		rest, isList := elements(value)
		if !isList || len(rest) > 0 && len(list) < c.prefix {
			return nil, false
		}
		list = append(list, rest...)
	}
	return list, used == len(all)
}

func (c tupleCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	list, ok := elements(src)
	if !ok {
		return dst, false
	}
	dst = append(dst, '{')
	for i, item := range list[:min(c.prefix, len(list))] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(appendQuoted(dst, itemName(i)), ':'), item...)
	}
	if len(list) > c.prefix {
		dst = appendList(append(dst, `,"rest":`...), list[c.prefix:])
	}
	return append(dst, '}'), true
}

func (c tupleCodec) seenPath(path []string) []string {
	i, err := strconv.Atoi(path[0])
	switch {
	case err != nil:
		return path
	case i < c.prefix:
		return append([]string{itemName(i)}, path[1:]...)
	}
	return append([]string{restName, strconv.Itoa(i - c.prefix)}, path[1:]...)
}
