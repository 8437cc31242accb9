package claude_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/claude"
)

// An answering is a CLI that only answers requests, each with what answers has for its
// subtype.
type answering struct {
	answers map[string]string
	lines   chan []byte
	closed  chan struct{}
}

func (a *answering) ReadLine() ([]byte, error) {
	select {
	case line := <-a.lines:
		return line, nil
	case <-a.closed:
		return nil, io.EOF
	}
}

func (a *answering) WriteLine(data []byte) error {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	answer := object{"subtype": "success", "request_id": l["request_id"]}
	if body := a.answers[l.text("request", "subtype")]; body != "" {
		answer["response"] = json.RawMessage(body)
	}
	a.lines <- []byte(encode(object{"type": "control_response", "response": answer}))
	return nil
}

func (a *answering) Close() error {
	select {
	case <-a.closed:
	default:
		close(a.closed)
	}
	return nil
}

// TestModeInEffect: SetPermissionMode returns the mode that the CLI reports, and
// the mode that was asked for if the CLI is too old to say it.
func TestModeInEffect(t *testing.T) {
	for body, want := range map[string]string{
		`{"mode":"plan"}`: "plan", `{"mode":"future","more":1}`: "future", `{}`: "auto", ``: "auto", `null`: "auto", `{"mode":null}`: "auto", `{"mode":""}`: "auto",
		`{"mode":7}`: "error", `"plan"`: "error",
	} {
		a := &answering{map[string]string{"set_permission_mode": body}, make(chan []byte, 10), make(chan struct{})}
		s, err := claude.Open(t.Context(), &claude.Options{Logger: slog.New(slog.DiscardHandler), Start: func(context.Context, *claude.Command) (claude.Transport, error) { return a, nil }})
		if err != nil {
			t.Fatal(err)
		}
		mode, err := s.Control().SetPermissionMode(t.Context(), claude.ModeAuto)
		if got := string(mode); err != nil && want != "error" || err == nil && got != want {
			t.Errorf("%s: the mode is %q, %v; want %s", body, got, err, want)
		}
		if _, err := s.SendPrompt(t.Context(), &claude.Prompt{Text: "hi", Priority: "nwo"}); err == nil || !strings.Contains(err.Error(), "did you mean now?") {
			t.Errorf("a misspelled priority: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
