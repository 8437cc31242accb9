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
	if got, err := decode[answer](r); err != nil || got != (answer{Answer: 42}) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if got, err := decode[map[string]any](r); err != nil || !reflect.DeepEqual(got, map[string]any{"answer": 42.0}) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if _, err := decode[[]string](r); err == nil || !strings.HasPrefix(err.Error(), "decode the structured output into []string: ") {
		t.Errorf("the error is %v", err)
	}
	null := &Response{SessionID: "s", StructuredOutput: json.RawMessage(`null`)}
	if got, err := decode[*int](null); err != nil || got != nil {
		t.Errorf("null is decoded into %v, %v", got, err)
	}
	if got, err := decode[any](null); err != nil || got != nil {
		t.Errorf("null is decoded into %v, %v", got, err)
	}
	var e *OutputError
	if got, err := decode[answer](null); !errors.As(err, &e) {
		t.Errorf("null is decoded into %+v, %v", got, err)
	}
	if _, err := decode[answer](&Response{SessionID: "s", Result: "text"}); !errors.As(err, &e) || e.SessionID != "s" || e.Result != "text" {
		t.Errorf("the error is %v", err)
	}
	if _, err := decode[answer](nil); !errors.As(err, &e) {
		t.Errorf("the error is %v", err)
	}
}

func TestDoAsRefused(t *testing.T) {
	opts := &Options{MaxTurns: -1}
	if _, r, err := DoAs[answer](t.Context(), "hi", opts); r != nil || err == nil || !strings.Contains(err.Error(), "MaxTurns") {
		t.Errorf("%v, %v", r, err)
	}
	if opts.Output != nil {
		t.Error("the caller's options were changed")
	}
	if _, _, err := DoAs[chan int](t.Context(), "hi", nil); err == nil || !strings.Contains(err.Error(), "infer the output schema") {
		t.Errorf("the error is %v", err)
	}
}

// requirement 2: a result is an error by its subtype, too.
func TestFailureBySubtype(t *testing.T) {
	for subtype, want := range map[string]bool{"success": false, "error_max_turns": true, "error_of_tomorrow": true, "": false} {
		r := ended(subtype, "", "text")
		r.IsError = false
		if got := isFailure(r); got != want {
			t.Errorf("%q: %v", subtype, got)
		}
		w := newOutputWatch(outputOf[answer]())
		w.see(r)
		if told := w.failure(r) != nil; told == want {
			t.Errorf("%q: the missing output is told: %v", subtype, told)
		}
	}
}
