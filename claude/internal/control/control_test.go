package control_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/message"
)

func decode(t *testing.T, line string) (any, error) {
	t.Helper()
	m, err := new(message.Parser).Parse([]byte(line))
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return control.Decode(m)
}

func TestDecode(t *testing.T) {
	for line, want := range map[string]any{
		`{"type":"control_request","request_id":"r","request":{"subtype":"s","a":1.0}}`: &control.Request{ID: "r", Subtype: "s", Body: []byte(`{"subtype":"s","a":1.0}`)},
		`{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"e","error_code":"c","response":{"a":1}}}`: &control.Response{
			ID: "r", Subtype: "error", Body: []byte(`{"a":1}`), Error: "e", Code: "c"},
		`{"type":"control_response","response":{"subtype":"success","request_id":"r","response":null}}`: &control.Response{ID: "r", Subtype: "success"},
		`{"type":"control_cancel_request","request_id":"r"}`:                                            &control.Cancel{ID: "r"},
		`{"type":"keep_alive"}`: &control.KeepAlive{},
		`{"type":"transcript_mirror","filePath":"f","entries":[{"a":1},{}]}`: &control.Mirror{File: "f", Lines: []json.RawMessage{[]byte(`{"a":1}`), []byte(`{}`)}, Size: 66},
		`{"type":"system","subtype":"status"}`:                               nil,
		`{"type":"odd"}`:                                                     nil,
	} {
		if got, err := decode(t, line); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, %v", line, got, err)
		}
	}
}

func TestDecodeMalformed(t *testing.T) {
	for line, field := range map[string]string{
		`{"type":"control_request","request_id":"r","request":{}}`:            "request.subtype",
		`{"type":"control_request","request_id":"r","request":7}`:             "request",
		`{"type":"control_request","request_id":7,"request":{"subtype":"s"}}`: "request_id",
		`{"type":"control_response","response":{"subtype":"success"}}`:        "response.request_id",
		`{"type":"control_response","response":{"request_id":"r"}}`:           "response.subtype",
		`{"type":"control_cancel_request","request_id":[]}`:                   "request_id",
		`{"type":"transcript_mirror","filePath":"f","entries":{}}`:            "entries",
	} {
		got, err := decode(t, line)
		var failure *message.ParseError
		if got != nil || !errors.As(err, &failure) || failure.Field != field || string(failure.Line) != line {
			t.Errorf("%s is %+v, %v, want an error of %s", line, got, err, field)
		}
	}
}
