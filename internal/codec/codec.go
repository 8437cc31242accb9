// Package codec reads and writes the JSON of Go values that tools take and return.
package codec

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Go values are written as encoding/json writes them, but without HTML
// escapes, and with [] and {} for nil slices and maps.
var encoding = json.JoinOptions(jsonv1.DefaultOptionsV1(),
	json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
	jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
	jsonv1.CallMethodsWithLegacySemantics(false),
	json.WithMarshalers(json.MarshalToFunc(encodeNumber)))

// JSON is read after it was validated: duplicate names are not looked for again.
var decoding = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsonv1.StringifyWithLegacySemantics(true),
	jsonv1.FormatDurationAsNano(true), jsonv1.FormatByteArrayAsArray(true), jsonv1.FormatBytesWithLegacySemantics(true))

// Encode writes a Go value.
func Encode(v any) ([]byte, error) { return json.Marshal(v, encoding) }

// Decode reads JSON as encoding/json does. encoding/json itself is slower and
// does not report where a type's own method failed, so it is used only for
// types that nothing else can read, such as a json.Number or an embedded
// string.
func Decode(data []byte, v any) error {
	first := json.Unmarshal(data, v, decoding)
	if first == nil {
		return nil
	}
	reflect.ValueOf(v).Elem().SetZero()
	err := stdjson.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	if plain := plainIntegers(data); plain != nil { // what is wrong with it is wrong with data
		reflect.ValueOf(v).Elem().SetZero()
		if first = json.Unmarshal(plain, v, decoding); first == nil {
			return nil
		}
		reflect.ValueOf(v).Elem().SetZero()
		if err = stdjson.Unmarshal(plain, v); err == nil {
			return nil
		}
	}
	return explain(first, err)
}

// explain returns the error for a model, of the errors of two readers: the first one
// reports where a value is, the second one what is wrong.
func explain(first, err error) error {
	var at *json.SemanticError
	var kind *stdjson.UnmarshalTypeError
	var moment *time.ParseError
	found := errors.As(first, &at)
	switch {
	case found && errors.As(err, &moment):
		return fmt.Errorf("%s: expected a time as RFC 3339 writes it, such as 2026-01-02T15:04:05Z, got %.60q", at.JSONPointer, moment.Value)
	case found && at.Err != nil && at.Err.Error() == err.Error():
		return fmt.Errorf("%s: %w", at.JSONPointer, err)
	case !errors.As(err, &kind):
		return err
	case found && at.GoType == kind.Type && at.JSONValue != nil:
		return fmt.Errorf("%s: expected %s, got %.60s", at.JSONPointer, describeType(kind.Type), at.JSONValue)
	}
	return fmt.Errorf("/%s: expected %s, got %.60s", strings.ReplaceAll(kind.Field, ".", "/"), describeType(kind.Type), kind.Value)
}

// describeType describes for a model what a Go type accepts. The schema describes
// most of it; only the limits of Go's numbers are missing there.
func describeType(t reflect.Type) string {
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case k >= reflect.Uint && k <= reflect.Uint64:
		return fmt.Sprintf("an unsigned integer of %d bits", t.Bits())
	case k == reflect.Float32, k == reflect.Float64:
		return fmt.Sprintf("a number of %d bits", t.Bits())
	}
	return "a value for " + t.String()
}

// encodeNumber writes a json.Number as the number it is.
func encodeNumber(e *jsontext.Encoder, n stdjson.Number) error {
	if kind, length := e.StackIndex(e.StackDepth()); kind == '{' && length%2 == 0 {
		return errors.ErrUnsupported // a name is text
	}
	raw, err := stdjson.Marshal(n)
	if err != nil {
		return err
	}
	if quoted, _ := json.GetOption(e.Options(), json.StringifyNumbers); quoted {
		return e.WriteToken(jsontext.String(string(raw)))
	}
	return e.WriteValue(raw)
}
