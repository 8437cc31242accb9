package wire

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// An ObjectWriter writes a JSON object member by member, where encoding/json would take
// most of the time that something takes. Members that have no value are left out, as
// omitempty does.
type ObjectWriter struct {
	b   []byte
	err error
}

// Text writes a text.
func (w *ObjectWriter) Text(name, text string) {
	if text != "" {
		w.AnyText(name, text)
	}
}

// AnyText writes a text, also an empty one.
func (w *ObjectWriter) AnyText(name, text string) {
	w.name(name)
	w.b = AppendQuote(w.b, text)
}

// Bytes writes data in base64.
func (w *ObjectWriter) Bytes(name string, data []byte) {
	if len(data) > 0 {
		w.name(name)
		w.b = append(base64.StdEncoding.AppendEncode(append(w.b, '"'), data), '"')
	}
}

// Int writes an integer.
func (w *ObjectWriter) Int(name string, n int64) {
	if n != 0 {
		w.name(name)
		w.b = strconv.AppendInt(w.b, n, 10)
	}
}

// True writes a truth.
func (w *ObjectWriter) True(name string, is bool) {
	if is {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

// JSON writes raw JSON without its white space. It is an error if it is not JSON.
func (w *ObjectWriter) JSON(name string, raw json.RawMessage) {
	if len(raw) == 0 || w.err != nil {
		return
	}
	w.name(name)
	w.b, w.err = jsontext.AppendFormat(w.b, raw, jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// Encoded writes JSON that an encoder has just returned, with its error.
func (w *ObjectWriter) Encoded(name string, raw []byte, err error) {
	if w.err == nil {
		w.err = err
	}
	w.name(name)
	w.b = append(w.b, raw...)
}

func (w *ObjectWriter) name(name string) {
	begin := byte(',')
	if w.b == nil {
		begin, w.b = '{', make([]byte, 0, 256) // most objects fit
	}
	w.b = append(append(append(w.b, begin, '"'), name...), '"', ':')
}

// End returns the object.
func (w *ObjectWriter) End() ([]byte, error) {
	if w.b == nil {
		w.b = []byte{'{'}
	}
	return append(w.b, '}'), w.err
}
