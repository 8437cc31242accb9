package toolpost

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

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

func encode(v any) ([]byte, error) { return json.Marshal(v, encoding) }

// decode reads JSON as encoding/json does. That itself is slower, and does not
// say where a type's own method failed; it is asked for the types that only it
// can read, such as a json.Number or an embedded string.
func decode(data []byte, v any) error {
	first := json.Unmarshal(data, v, decoding)
	if first == nil {
		return nil
	}
	reflect.ValueOf(v).Elem().SetZero()
	err := stdjson.Unmarshal(data, v)
	var at *json.SemanticError
	if err != nil && errors.As(first, &at) && at.Err != nil && at.Err.Error() == err.Error() {
		return fmt.Errorf("%s: %w", at.JSONPointer, err)
	}
	return err
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
