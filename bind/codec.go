package bind

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Dependencies are written as encoding/json writes them, but what it would
// replace or drop is refused.
var coding = json.JoinOptions(jsonv1.DefaultOptionsV1(),
	jsontext.AllowInvalidUTF8(false), jsontext.AllowDuplicateNames(false), jsontext.EscapeForHTML(false),
	jsonv1.CallMethodsWithLegacySemantics(false), jsonv1.ReportErrorsWithLegacySemantics(false),
	json.MatchCaseInsensitiveNames(false), json.RejectUnknownMembers(true))

func decode[T any](data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v, coding); err != nil {
		var zero T
		return zero, fmt.Errorf("decode dependencies of type %v: %w", reflect.TypeFor[T](), err)
	}
	return v, nil
}

// A roundTrip encodes a value, decodes that again and compares.
type roundTrip struct {
	root  reflect.Type
	loose string // a field of type any that holds a value
}

func (rt *roundTrip) encode(path string, v reflect.Value) ([]byte, error) {
	if err := checkAt(rt.root, path, v.Type()); err != nil {
		return nil, err
	}
	data, err := json.Marshal(v.Interface(), coding)
	if err != nil {
		return nil, rt.unwritten(path, v.Type(), err)
	}
	back := reflect.New(v.Type())
	if err := json.Unmarshal(data, back.Interface(), coding); err != nil {
		return nil, rt.refuse(path, v.Type(), fmt.Sprintf("it cannot be decoded again: %v", err))
	}
	return data, rt.compare(path, v, back.Elem())
}

// unwritten returns where the encoder failed.
func (rt *roundTrip) unwritten(path string, t reflect.Type, err error) error {
	var at *json.SemanticError
	if !errors.As(err, &at) || at.GoType == nil {
		return rt.refuse(path, t, err.Error())
	}
	reason := noJSON
	if at.Err != nil {
		reason = at.Err.Error()
	}
	depth := 0
	for name := range at.JSONPointer.Tokens() {
		if depth++; depth > maxPath { // a value that holds itself
			break
		}
		path = join(path, name)
	}
	return rt.refuse(path, at.GoType, reason)
}

// maxPath is the number of steps of a path that an error shows.
const maxPath = 8

func (rt *roundTrip) refuse(path string, t reflect.Type, reason string) error {
	return &UnsupportedTypeError{Root: rt.root, Path: path, Type: t, Reason: reason}
}

// compare returns where b differs from a.
func (rt *roundTrip) compare(path string, a, b reflect.Value) error {
	switch a.Kind() {
	case reflect.Interface:
		return rt.inside(path, a, b)
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return rt.requireSame(path, a, a.IsNil() == b.IsNil())
		}
		return rt.compare(path, a.Elem(), b.Elem())
	case reflect.Struct:
		return rt.fields(path, a, b)
	}
	if isTrusted(a.Type()) {
		return nil
	}
	switch a.Kind() {
	case reflect.Map:
		return rt.entries(path, a, b)
	case reflect.Slice, reflect.Array:
		return rt.elements(path, a, b)
	case reflect.Func: // left out by a tag
		return rt.requireSame(path, a, a.IsNil())
	}
	return rt.requireSame(path, a, a.Equal(b))
}

// inside takes what a field of type any holds for itself.
func (rt *roundTrip) inside(path string, a, b reflect.Value) error {
	if a.IsNil() || b.IsNil() {
		return rt.requireSame(path, a, a.IsNil() == b.IsNil())
	}
	if rt.loose == "" {
		rt.loose = path
	}
	_, err := rt.encode(path, a.Elem())
	return err
}

func (rt *roundTrip) requireSame(path string, a reflect.Value, yes bool) error {
	if yes {
		return nil
	}
	return rt.refuse(path, a.Type(), "its value changes when it is written as JSON and read back")
}

func (rt *roundTrip) fields(path string, a, b reflect.Value) error {
	if isTrusted(a.Type()) && !embedsTrusted(a.Type()) {
		return nil
	}
	for i := range a.NumField() {
		f := a.Type().Field(i)
		at, from, to := join(path, f.Name), a.Field(i), b.Field(i)
		var err error
		switch {
		case f.Name == "_":
		case !f.IsExported() && (!f.Anonymous || f.Tag.Get("json") == "-"): // left out by a tag
			err = rt.requireSame(at, from, from.IsZero())
		default:
			err = rt.compare(at, from, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (rt *roundTrip) entries(path string, a, b reflect.Value) error {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return rt.requireSame(path, a, false)
	}
	for key, value := range a.Seq2() {
		at := fmt.Sprintf("%s[%v]", path, key)
		other := b.MapIndex(key)
		if !other.IsValid() {
			return rt.refuse(at, key.Type(), "the key changes when it is written as JSON and read back")
		}
		if err := rt.compare(at, value, other); err != nil {
			return err
		}
	}
	return nil
}

func (rt *roundTrip) elements(path string, a, b reflect.Value) error {
	slice := a.Kind() == reflect.Slice
	switch {
	case slice && a.IsNil() != b.IsNil(), a.Len() != b.Len():
		return rt.requireSame(path, a, false)
	case slice && a.Type().Elem().Kind() == reflect.Uint8:
		return rt.requireSame(path, a, bytes.Equal(a.Bytes(), b.Bytes()))
	}
	for i := range a.Len() {
		if err := rt.compare(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
