package claude

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	r := &Response{SessionID: "s", Result: "text", StructuredOutput: json.RawMessage(`{"answer":42}`)}
	if got, err := Decode[answer](r); err != nil || got != (answer{Answer: 42}) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if got, err := Decode[map[string]any](r); err != nil || !reflect.DeepEqual(got, map[string]any{"answer": 42.0}) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if _, err := Decode[[]string](r); err == nil || !strings.HasPrefix(err.Error(), "decode the structured output into []string: ") {
		t.Errorf("the error is %v", err)
	}
	var e *OutputError
	if _, err := Decode[answer](&Response{SessionID: "s", Result: "text"}); !errors.As(err, &e) || e.SessionID != "s" || e.Result != "text" {
		t.Errorf("the error is %v", err)
	}
	if _, err := Decode[answer](nil); !errors.As(err, &e) {
		t.Errorf("the error is %v", err)
	}
}

func TestRunAsRefused(t *testing.T) {
	opts := &Options{MaxTurns: -1}
	if _, r, err := RunAs[answer](t.Context(), "hi", opts); r != nil || err == nil || !strings.Contains(err.Error(), "MaxTurns") {
		t.Errorf("%v, %v", r, err)
	}
	if opts.Output != nil {
		t.Error("the caller's options were changed")
	}
	if _, _, err := RunAs[chan int](t.Context(), "hi", nil); err == nil || !strings.Contains(err.Error(), "infer the schema of the output") {
		t.Errorf("the error is %v", err)
	}
}
