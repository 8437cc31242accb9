package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// structure describes a struct, fields of embedded structs in their place.
func (in *inference) structure(t reflect.Type, at place) *draft {
	properties, required := object{}, []string(nil)
	for _, f := range fields(in, t, at.path) {
		d, must := in.property(&f, at.field(&f))
		properties = append(properties, member{f.name, d})
		if must {
			required = append(required, f.name)
		}
	}
	d := kindDraft(jsontree.KindObject).set("properties", properties).set("additionalProperties", false)
	if required != nil {
		d.set("required", required)
	}
	return d
}

// property describes a field and reports whether it is required.
func (in *inference) property(f *field, at place) (d *draft, required bool) {
	d = in.of(f.sf.Type, at)
	d.null = d.null && !(f.omits && f.sf.Type.Elem().Kind() != reflect.Pointer)
	if f.quoted {
		d = quote(d, deref(f.sf.Type))
	}
	must, err := d.tag(f.sf.Tag)
	if err == nil && !in.output {
		err = d.checkDefault(f)
	}
	if err != nil {
		in.fail(at.path, "%w", err)
	}
	if in.output {
		return d, !f.optional
	}
	return d, must || isRequired(d, f, in.defs)
}

// isRequired reports whether a field that no tag requires is required. An optional
// struct gets the default {} if there are defaults to be filled in there.
func isRequired(d *draft, f *field, defs object) bool {
	kind := f.sf.Type.Kind()
	switch {
	case kind == reflect.Pointer, d.get("default") != nil:
		return false
	case kind == reflect.Struct && f.optional && fillable(d, defs):
		d.set("default", object{})
	}
	return !f.optional
}

// fillable reports whether defaults make a valid value of {}.
func fillable(d *draft, defs object) bool {
	if ref, ok := d.get("$ref").(string); ok {
		if d, ok = defs.get(strings.TrimPrefix(ref, defsPrefix)).(*draft); !ok {
			return false // the field is inside of what it refers to
		}
	}
	if d.get("required") != nil || d.get("minProperties") != nil {
		return false
	}
	properties, _ := d.get("properties").(object)
	return slices.ContainsFunc(properties, func(m member) bool {
		p, ok := m.value.(*draft)
		return ok && p.get("default") != nil
	})
}

// quote describes a value that the option string of a json tag puts in a JSON string.
func quote(d *draft, t reflect.Type) *draft {
	q := kindDraft(jsontree.KindString)
	q.null, q.unit = d.null, d.unit
	if description := d.get("description"); description != nil {
		q.set("description", description)
	}
	if values, ok := d.get("enum").([]jsontext.Value); ok {
		for i, v := range values {
			values[i] = quoteText(string(v))
		}
		return q.set("enum", values)
	}
	switch d.kind {
	case jsontree.KindBoolean:
		return q.set("enum", []jsontext.Value{quoteText("false"), quoteText("true")})
	case jsontree.KindString:
		return q.set("pattern", `^".*"$`)
	}
	return q.set("pattern", numeral(t.Kind()))
}
