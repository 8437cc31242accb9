package lower

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeRoot writes the outermost schema. Arguments are an object, whatever the
// schema says or forgets to say.
func writeRoot(l *lowering, f *form.Form) (*node, codec) {
	at := place{root: true}
	if !l.rules.Root.Object {
		return l.write(f, at)
	}
	object := rootObject(f)
	if object.Kinds&jsontree.KindObject == 0 && object.Ref == nil {
		l.reshape(Rejected, object.At, "arguments are an object, and the schema accepts none")
		return writeNoArguments(l, object.At)
	}
	if object.Kinds != jsontree.KindObject {
		l.reshape(Noop, object.At, "arguments are an object")
	}
	object.Kinds, object.Ref = jsontree.KindObject, nil
	if object.Enum != nil {
		l.lose(Dropped, object.At, l.first(object.At, "enum", "const"), notStated)
		object.Enum = nil
	}
	switch {
	case object.Alts != nil:
		return writeRootUnion(l, object, at)
	case l.rules.Object.Closed && isMap(object.Object):
		return writeRequest(l, object, at)
	}
	return l.write(object, at)
}

// rootObject returns a copy of what the references at the root lead to.
func rootObject(f *form.Form) *form.Form {
	root := *f
	for i := 0; root.Ref != nil && i < 8; i++ {
		inner := *root.Ref.Form
		inner.Notes = root.Notes.Over(inner.Notes)
		inner.Rest = slices.Concat(root.Rest, inner.Rest)
		root = inner
	}
	return &root
}

// isMap reports whether an object has members of any name, and only those.
func isMap(o *form.Object) bool {
	return o != nil && len(o.Properties) == 0 && o.Additional != nil && o.Additional.Kinds != 0
}

// writeNoArguments writes an object without properties.
func writeNoArguments(l *lowering, at string) (*node, codec) {
	return writeRecord(l, &form.Form{At: at, Kinds: jsontree.KindObject}, &form.Object{MaxProperties: -1}, place{root: true})
}

// writeRootUnion writes alternatives at the root.
func writeRootUnion(l *lowering, f *form.Form, at place) (*node, codec) {
	u := *f.Alts
	u.Forms = slices.DeleteFunc(slices.Clone(u.Forms), func(alt *form.Form) bool { return content(alt).Kinds&jsontree.KindObject == 0 })
	switch len(u.Forms) {
	case 0:
		l.reshape(Rejected, f.At, "arguments are an object, and no alternative accepts one")
		return writeNoArguments(l, f.At)
	case 1:
		return writeRoot(l, u.Forms[0])
	}
	f.Alts = &u
	switch {
	case !l.rules.Root.NoUnion && !l.rules.Union.None:
		n, c := l.write(f, at)
		root := l.typeNode("object")
		for _, m := range n.members {
			root.put(m)
		}
		return root, c
	case l.rules.Root.Flatten || l.rules.Union.None:
		return l.write(f, at)
	}
	return writeRequest(l, f, at)
}

// writeRequest writes what may not stand at the root as the property "request".
func writeRequest(l *lowering, f *form.Form, at place) (*node, codec) {
	l.reshape(Encoded, f.At, `the arguments are written as the property "request"`)
	inner := *f
	inner.Notes = form.Notes{}
	n, c := writeRecord(l, &form.Form{At: f.At, Kinds: jsontree.KindObject}, &form.Object{
		Properties: []form.Property{{Name: "request", Form: &inner, Required: true}}, Additional: &form.Form{}, MaxProperties: -1,
	}, at)
	annotate(l, f.At, &f.Notes, n, nil)
	return n, join(memberCodec("request"), c)
}
