package claude_test

import (
	"errors"
	"testing"

	"github.com/toolpost/toolpost/claude"
)

// TestDoAs runs on recordings of the CLI.
func TestDoAs(t *testing.T) {
	type answer struct {
		Answer int `json:"answer"`
	}
	asked := func(name string) *claude.Options {
		r, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		o := (&host{T: t, recording: r}).implied()
		o.Output = nil
		return o
	}
	got, r, err := claude.DoAs[answer](t.Context(), "the answer?", asked("05b-structured-output-invalid-then-valid"))
	if err != nil || got.Answer != 7 || r == nil || r.IsError {
		t.Errorf("the answer is %+v, %+v, %v", got, r, err)
	}

	var missing *claude.OutputError
	_, r, err = claude.DoAs[answer](t.Context(), "Say hello", asked("01-text-only"))
	if !errors.As(err, &missing) || r == nil || r.Result == "" || missing.SessionID != r.SessionID || missing.Result != r.Result {
		t.Errorf("text only is %+v, %v", r, err)
	}
}
