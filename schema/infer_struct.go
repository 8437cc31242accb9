package schema

import (
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
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
	d := typed(kindObject).set("properties", properties).set("additionalProperties", false)
	if required != nil {
		d.set("required", required)
	}
	return d
}

// property describes a field and says whether it is required.
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
	return d, must || !f.optional && f.sf.Type.Kind() != reflect.Pointer && d.get("default") == nil
}

// quote describes a value that the option string of a json tag puts in a JSON string.
func quote(d *draft, t reflect.Type) *draft {
	q := typed(kindString)
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
	case kindBoolean:
		return q.set("enum", []jsontext.Value{quoteText("false"), quoteText("true")})
	case kindString:
		return q.set("pattern", `^".*"$`)
	}
	return q.set("pattern", numeral(t.Kind()))
}
