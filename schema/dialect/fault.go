package dialect

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An OverlayError reports a mistake in one overlay.
type OverlayError struct {
	ID      string // of the dialect
	Pointer string // JSON pointer of the mistake; "" for the whole overlay
	Err     error
}

func (e *OverlayError) Error() string { return fmt.Sprintf("dialect %.80q: %v", e.ID, e.Err) }

// Unwrap returns the mistake, without the id.
func (e *OverlayError) Unwrap() error { return e.Err }

// A fault is what is wrong at one place of a dialect.
type fault struct {
	pointer   jsontext.Pointer
	err       error
	inherited bool // it is reported for the dialect that this one extends
}

func newFault(pointer, format string, args ...any) error {
	return &fault{pointer: jsontext.Pointer(pointer), err: fmt.Errorf(format, args...)}
}

func (f *fault) Error() string {
	if f.pointer == "" {
		return f.err.Error()
	}
	return dottedPath(f.pointer) + " " + f.err.Error()
}

func isInherited(err error) bool {
	f, ok := errors.AsType[*fault](err)
	return ok && f.inherited
}

func newOverlayError(id string, err error) *OverlayError {
	e := &OverlayError{ID: id, Err: err}
	if f, ok := errors.AsType[*fault](err); ok {
		e.Pointer = string(f.pointer)
	}
	return e
}

// dottedPath writes a pointer as clients[0].name.
func dottedPath(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			fmt.Fprintf(&b, "[%s]", token)
		case b.Len() > 0:
			fmt.Fprintf(&b, ".%.80s", token)
		default:
			fmt.Fprintf(&b, "%.80s", token)
		}
	}
	return b.String()
}

// misread turns an error of decoding the part of a dialect that stands at a
// pointer into an error that describes the value wanted there.
func misread(at jsontext.Pointer, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at += e.JSONPointer
		if errors.Is(e.Err, jsontext.ErrDuplicateName) {
			return newFault(string(at), "is a duplicate; keep one")
		}
		return newFault(string(at), "is not valid JSON: %w", e.Err)
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok || e.GoType == nil:
		return newFault(string(at), "cannot be read: %w", err)
	case errors.Is(e.Err, json.ErrUnknownName):
		return newFault(string(at+e.JSONPointer), "is unknown; the members are %s", strings.Join(memberNames(e.GoType), ", "))
	}
	got := kinds[e.JSONKind]
	if len(e.JSONValue) > 0 {
		got = fmt.Sprintf("%.40s", e.JSONValue)
	}
	return newFault(string(at+e.JSONPointer), "is %s; it must be %s", got, describeType(e.GoType))
}

var kinds = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// describeType describes the JSON that a Go type is read from.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// memberNames returns the names of the members that a struct is read from.
func memberNames(t reflect.Type) (names []string) {
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}
