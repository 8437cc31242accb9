package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A ParseError reports a line that is not a message, or a message of a known
// type with a missing or malformed field.
type ParseError struct {
	Type, Subtype string          // as far as known
	Field         string          // such as message.content; empty if the whole line is malformed
	Line          json.RawMessage // the whole line
	Err           error
}

func (e *ParseError) Error() string {
	kind := e.Type
	if e.Subtype != "" {
		kind += "/" + e.Subtype
	}
	const most = 200 // characters of a name, which may be anything
	what := "read a line of the claude CLI"
	if kind != "" {
		what = fmt.Sprintf("read a message %.*q of the claude CLI", most, kind)
	}
	subject := "it"
	if e.Field != "" {
		subject = fmt.Sprintf("field %.*q", most, e.Field)
	}
	return fmt.Sprintf("%s: %s %v; the CLI may be newer or older than this module: update one of them, or skip the message", what, subject, e.Err)
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

var (
	errMissing  = errors.New("is missing")
	errNoObject = errors.New("is not a JSON object")
)

// A fieldError is an error at a place in the line.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.err.Error() }

// locate returns err with the place where it occurred, below the field at.
func locate(err error, at string) *fieldError {
	var (
		inner    *fieldError
		semantic *jsonv2.SemanticError
		syntax   *jsontext.SyntacticError
	)
	switch {
	case errors.As(err, &inner):
		return inner
	case errors.As(err, &semantic):
		cause := fmt.Errorf("has a value of the wrong type: %s", semantic.JSONKind)
		if semantic.Err != nil {
			cause = fmt.Errorf("cannot be read: %w", semantic.Err)
		}
		return &fieldError{below(at, semantic.JSONPointer), cause}
	case errors.As(err, &syntax):
		return &fieldError{below(at, syntax.JSONPointer), fmt.Errorf("is not JSON: %w", syntax.Err)}
	}
	return &fieldError{at, fmt.Errorf("cannot be read: %w", err)}
}

// below joins names with dots: message, /content/0 → message.content.0.
func below(at string, p jsontext.Pointer) string {
	path := strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
	if at == "" || path == "" {
		return at + path
	}
	return at + "." + path
}
