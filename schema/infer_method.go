package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// declaredDraft returns the schema that t declares with a method JSONSchema,
// nil if it does not. One with references of its own moves to $defs, where they
// work.
func (in *inference) declaredDraft(t reflect.Type, at place) *draft {
	raw, err := declaration(t)
	if err != nil {
		return in.fail(at.path, "method JSONSchema of %v: %w", t, err)
	}
	if raw == nil {
		return nil
	}
	prefix := "#"
	if at.pointer != "" && bytes.Contains(raw, []byte(`"$ref"`)) {
		prefix = defsPrefix + in.names.add(t)
	}
	d := &draft{}
	for _, kid := range jsontree.Read(raw).Kids {
		switch {
		case kid.Name == "$schema", kid.Name == "$id": // it is part of another document now
		case kid.Name == "type" && kid.Kind == jsontree.KindString:
			d.kind = jsontree.KindNamed(kid.Text)
			d.object = append(d.object, member{kid.Name, kid.Text})
		default:
			d.object = append(d.object, member{kid.Name, rebase(kid, prefix)})
		}
	}
	return d
}

// declaration calls the method JSONSchema of t. A method that a struct has
// from an embedded field describes that field only, and does not count,
// unless the JSON of the struct is that of the field.
func declaration(t reflect.Type) ([]byte, error) {
	m := method(t, "JSONSchema")
	if !m.IsValid() {
		return nil, nil
	}
	raw, err := schemaBytes(m)
	if err != nil || t.Kind() != reflect.Struct || !plain(t) {
		return raw, err
	}
	for sf := range t.Fields() {
		if !sf.Anonymous {
			continue
		}
		if m := method(deref(sf.Type), "JSONSchema"); m.IsValid() {
			if inner, err := schemaBytes(m); err == nil && bytes.Equal(inner, raw) {
				return nil, nil
			}
		}
	}
	return raw, nil
}

// method returns a method of t or *t that takes nothing and returns one value.
func method(t reflect.Type, name string) reflect.Value {
	if t.Kind() == reflect.Interface {
		return reflect.Value{}
	}
	var m reflect.Value
	switch v := reflect.New(t); name { // constants let the linker drop other methods
	case "JSONSchema":
		m = v.MethodByName("JSONSchema")
	case "Enum":
		m = v.MethodByName("Enum")
	}
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return reflect.Value{}
	}
	return m
}

func schemaBytes(m reflect.Value) (raw jsontext.Value, err error) {
	result := m.Call(nil)[0]
	if result.Kind() == reflect.Slice && result.Type().Elem().Kind() == reflect.Uint8 {
		raw = bytes.Clone(result.Bytes())
	} else if raw, err = json.Marshal(result.Interface(), json.Deterministic(true)); err != nil { // it may return a map
		return nil, err
	}
	if readTree(raw).Kind != jsontree.KindObject {
		return nil, fmt.Errorf("its JSON is %.40s, want a JSON object", raw)
	}
	return raw, nil
}

// rebase returns JSON in which local references begin with prefix instead of #.
func rebase(v *jsontree.Value, prefix string) any {
	switch {
	case v.Name == "$ref" && (v.Text == "#" || strings.HasPrefix(v.Text, "#/")):
		return prefix + v.Text[1:]
	case v.Kind == jsontree.KindObject:
		o := object{}
		for _, kid := range v.Kids {
			o = append(o, member{kid.Name, rebase(kid, prefix)})
		}
		return o
	case v.Kind == jsontree.KindArray:
		items := []any{}
		for _, kid := range v.Kids {
			items = append(items, rebase(kid, prefix))
		}
		return items
	}
	return jsontext.Value(v.Raw)
}

// enum returns the values that t lists with a method Enum, nil if it does not.
func (in *inference) enum(t reflect.Type, at place) []jsontext.Value {
	m := method(t, "Enum")
	if !m.IsValid() || m.Type().Out(0).Kind() != reflect.Slice {
		return nil
	}
	list := m.Call(nil)[0]
	values := make([]jsontext.Value, list.Len())
	for i := range values {
		raw, err := json.Marshal(list.Index(i).Interface(), jsonv1.FormatDurationAsNano(true))
		if err != nil {
			in.fail(at.path, "method Enum of %v: %w", t, err)
			return nil
		}
		values[i] = raw
	}
	if len(values) == 0 {
		in.fail(at.path, "method Enum of %v lists no values", t)
	}
	return values
}

// misfit returns the first value that is not of the kind, nil if all are.
func misfit(values []jsontext.Value, kind jsontree.Kinds) jsontext.Value {
	for _, v := range values {
		if kind != 0 && readTree(v).Kind&kind == 0 {
			return v
		}
	}
	return nil
}

// sameKind drafts a schema for values that have one JSON type, or any.
func sameKind(values []jsontext.Value) *draft {
	kind := jsontree.KindAny
	for _, v := range values {
		kind &= readTree(v).Kind
	}
	switch {
	case len(values) == 0 || kind == 0:
		return &draft{}
	case kind == jsontree.KindFraction:
		kind = jsontree.KindNumber
	}
	return kindDraft(kind)
}
