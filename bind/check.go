package bind

import (
	"context"
	text "encoding"
	stdjson "encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
)

// An UnsupportedTypeError reports dependencies that cannot be written as
// JSON and restored from it.
type UnsupportedTypeError struct {
	Root   reflect.Type // of the dependencies
	Path   string       // the refused field, such as Clients[].Conn; empty for the whole value
	Type   reflect.Type // of that field
	Reason string
}

func (e *UnsupportedTypeError) Error() string {
	return fmt.Sprintf("dependencies of type %v%s: %v cannot be passed by value: %s; leave it out, or pass it with BindLocal or dep.New",
		e.Root, fieldText(e.Path), e.Type, e.Reason)
}

// A TypeHintError reports a field of an interface type: JSON alone does not
// show which type to restore.
type TypeHintError struct {
	Root reflect.Type // of the dependencies
	Path string       // the field
	Type reflect.Type // the interface
}

func (e *TypeHintError) Error() string {
	return fmt.Sprintf("dependencies of type %v%s: the interface %v has no known concrete type that could be restored; declare a concrete type",
		e.Root, fieldText(e.Path), e.Type)
}

const noJSON = "JSON cannot represent it"

func fieldText(path string) string {
	if path == "" {
		return ""
	}
	return ", field " + path
}

// check returns why values of type t cannot be passed by value.
func check(t reflect.Type) error { return checkAt(t, "", t) }

func checkAt(root reflect.Type, path string, t reflect.Type) error {
	c := &checker{root: root, seen: map[reflect.Type]bool{}}
	c.check(path, t)
	if c.unsupported != nil {
		return c.unsupported
	}
	if c.hint != nil {
		return c.hint
	}
	return nil
}

// A checker walks a type, and keeps the first problem of each kind.
type checker struct {
	root        reflect.Type
	seen        map[reflect.Type]bool
	unsupported *UnsupportedTypeError
	hint        *TypeHintError
}

func (c *checker) refuse(path string, t reflect.Type, reason string) {
	if c.unsupported == nil {
		c.unsupported = &UnsupportedTypeError{c.root, path, t, reason}
	}
}

func (c *checker) check(path string, t reflect.Type) {
	if c.seen[t] {
		return
	}
	c.seen[t] = true
	if reason := resource(t); reason != "" {
		c.refuse(path, t, reason)
		return
	}
	switch k := t.Kind(); {
	case k == reflect.Interface:
		if t.NumMethod() > 0 && c.hint == nil {
			c.hint = &TypeHintError{c.root, path, t}
		}
	case k == reflect.Pointer:
		c.check(path, t.Elem())
	case !isTrusted(t):
		c.parts(path, t)
	}
}

// parts checks what a type is made of.
func (c *checker) parts(path string, t reflect.Type) {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		c.check(path+"[]", t.Elem())
	case reflect.Map:
		c.key(path+"[key]", t.Key())
		c.check(path+"[]", t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			c.field(join(path, f.Name), f)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr, reflect.Complex64, reflect.Complex128:
		c.refuse(path, t, noJSON)
	}
}

func (c *checker) key(path string, t reflect.Type) {
	switch k := t.Kind(); {
	case k == reflect.String, k >= reflect.Int && k <= reflect.Uint64:
	case implements[text.TextMarshaler](t) && implements[text.TextUnmarshaler](t) && k != reflect.Pointer:
	default:
		c.refuse(path, t, "it cannot be a key of a JSON object")
	}
}

func (c *checker) field(path string, f reflect.StructField) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Name == "_", f.Tag.Get("json") == "-": // the values are compared
	case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
		c.check(path, f.Type)
	case f.IsExported():
		c.check(path, f.Type)
	case resource(f.Type) != "":
		c.refuse(path, f.Type, resource(f.Type))
	default:
		c.refuse(path, f.Type, "the field is not exported, and would be lost; export it, or give its struct JSON methods")
	}
}

// resource returns why a value is more than its data; "" if it may be data.
func resource(t reflect.Type) string {
	switch {
	case implements[io.Closer](t):
		return "it is something that is opened and closed"
	case implements[sync.Locker](t):
		return "it is a lock"
	case t == reflect.TypeFor[context.Context]():
		return "it belongs to a call"
	}
	return ""
}

// isTrusted reports whether a type has methods for both ways.
func isTrusted(t reflect.Type) bool {
	return implements[stdjson.Marshaler](t) && implements[stdjson.Unmarshaler](t) ||
		implements[text.TextMarshaler](t) && implements[text.TextUnmarshaler](t)
}

// embedsTrusted reports whether a struct's methods may be those of one of its
// fields.
func embedsTrusted(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.Anonymous && t.NumField() > 1 && isTrusted(f.Type) {
			return true
		}
	}
	return false
}

// implements reports whether a value of type t, or its address, implements T.
func implements[T any](t reflect.Type) bool {
	want := reflect.TypeFor[T]()
	return t.Implements(want) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(want)
}
