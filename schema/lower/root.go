package lower

import (
	"slices"

	"github.com/toolpost/toolpost/schema"
)

// root writes the outermost schema. Arguments are an object, whatever the
// schema says or forgets to say.
func (l *lowering) root(f *schema.Form) (*node, codec) {
	at := place{root: true}
	if !l.rules.Root.Object {
		return l.schema(f, at)
	}
	whole := f
	for i := 0; f.Ref != nil && i < 8; i++ {
		inner := *f.Ref.Form
		inner.Notes = over(f.Notes, inner.Notes)
		inner.Rest = slices.Concat(f.Rest, inner.Rest)
		f = &inner
	}
	if f.Kinds&schema.KindObject == 0 && f.Ref == nil {
		l.lose(Rejected, f.At, l.source.keyword(f.At), "arguments are an object, and this takes none")
		return l.record(&schema.Form{At: f.At, Kinds: schema.KindObject}, emptyObject(), at)
	}
	object := *f
	object.Kinds, object.Ref = schema.KindObject, nil
	if f.Kinds != schema.KindObject {
		l.lose(Noop, f.At, l.source.keyword(f.At), "arguments are an object")
	}
	if object.Enum != nil {
		l.lose(Dropped, f.At, l.source.first(f.At, "enum", "const"), "not told; checked when the tool is called")
		object.Enum = nil
	}
	if object.Alts != nil {
		return l.rootUnion(whole, &object, at)
	}
	if o := object.Object; l.rules.Object.Closed && o != nil && len(o.Properties) == 0 && o.Additional != nil && o.Additional.Kinds != 0 {
		return l.wrap(&object, at)
	}
	return l.schema(&object, at)
}

func emptyObject() *schema.ObjectForm { return &schema.ObjectForm{MaxProperties: -1} }

// rootUnion writes alternatives at the root.
func (l *lowering) rootUnion(whole, f *schema.Form, at place) (*node, codec) {
	u := *f.Alts
	u.Forms = slices.DeleteFunc(slices.Clone(u.Forms), func(alt *schema.Form) bool { return content(alt).Kinds&schema.KindObject == 0 })
	if len(u.Forms) == 0 {
		l.lose(Rejected, f.At, l.source.keyword(f.At), "arguments are an object, and no alternative is one")
		return l.record(&schema.Form{At: f.At, Kinds: schema.KindObject}, emptyObject(), at)
	}
	f.Alts = &u
	if len(u.Forms) == 1 {
		return l.root(u.Forms[0])
	}
	switch {
	case !l.rules.Root.NoUnion && !l.rules.Union.None:
		n, c := l.schema(f, at)
		typedRoot := typed(l.typeName("object"))
		for _, m := range n.members {
			typedRoot.put(m)
		}
		return typedRoot, c
	case l.rules.Root.Flatten || l.rules.Union.None:
		return l.schema(f, at)
	}
	return l.wrap(f, at)
}

// wrap writes what may not stand at the root as the property "request".
func (l *lowering) wrap(f *schema.Form, at place) (*node, codec) {
	l.lose(Encoded, f.At, l.source.keyword(f.At), `the arguments are written as the property "request"`)
	inner := *f
	notes := inner.Notes
	inner.Notes = schema.Notes{}
	n, c := l.record(&schema.Form{At: f.At, Kinds: schema.KindObject}, &schema.ObjectForm{
		Properties: []schema.Property{{Name: "request", Form: &inner, Required: true}}, Additional: &schema.Form{}, MaxProperties: -1,
	}, at)
	l.annotate(&schema.Form{At: f.At, Notes: notes}, n, nil)
	return n, join(requestCodec{}, c)
}

// A requestCodec writes arguments as the property "request".
type requestCodec struct{}

func (requestCodec) decode(x *trip, dst, src []byte) []byte {
	all, ok := fields(src)
	if ok && len(all) == 1 && all[0].name == "request" {
		return append(dst, all[0].value...)
	}
	x.note(`the object with "request" around the arguments was missing`)
	return append(dst, src...)
}

func (requestCodec) encode(dst, src []byte) ([]byte, bool) {
	return append(append(append(dst, `{"request":`...), src...), '}'), true
}

func (requestCodec) seen(path []string) []string { return append([]string{"request"}, path...) }
