package claude

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func answered(t *testing.T, responder responder, request string) string {
	t.Helper()
	answer, err := responder(t.Context(), json.RawMessage(request))()
	if err != nil {
		return err.Error()
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sent is a transport that keeps what is written.
type sent chan string

func (s sent) ReadLine() ([]byte, error)   { return nil, io.EOF }
func (s sent) WriteLine(line []byte) error { s <- string(line); return nil }
func (s sent) CloseInput() error           { return nil }
func (s sent) Close() error                { return nil }

// TestUnencodable: what a callback returns is an error if JSON does not have it. The
// CLI is not left without an answer.
func TestUnencodable(t *testing.T) {
	lines := make(sent, 1)
	c := newConn(t.Context(), lines, slog.New(slog.DiscardHandler), nil)
	defer c.out.close()
	c.answer("7", map[string]any{"result": func() {}}, nil)
	if line := <-lines; !strings.Contains(line, `"subtype":"error"`) || !strings.Contains(line, `"request_id":"7"`) {
		t.Errorf("the answer is %s", line)
	}
}

// TestElicitation: the answer of the callback is the answer to the MCP server;
// without one, or if it fails, the question is declined.
func TestElicitation(t *testing.T) {
	const question = `{"subtype":"elicitation","mcp_server_name":"m","message":"Who?","mode":"form","requested_schema":{"type":"object"}}`
	var asked *Elicitation
	for _, tt := range []struct {
		name string
		give func() (*ElicitationAnswer, error)
		want string
	}{
		{"accept", func() (*ElicitationAnswer, error) {
			return &ElicitationAnswer{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
		}, `{"action":"accept","content":{"name":"Ann"}}`},
		{"unknown action", func() (*ElicitationAnswer, error) { return &ElicitationAnswer{Action: "yes"}, nil }, `{"action":"decline"}`},
		{"nil", func() (*ElicitationAnswer, error) { return nil, nil }, `{"action":"decline"}`},
		{"error", func() (*ElicitationAnswer, error) { return nil, errors.New("gone") }, `{"action":"decline"}`},
		{"panic", func() (*ElicitationAnswer, error) { panic("oh") }, `{"action":"decline"}`},
	} {
		o := &Options{Logger: slog.New(slog.DiscardHandler), Elicitation: func(_ context.Context, q *Elicitation) (*ElicitationAnswer, error) {
			asked = q
			return tt.give()
		}}
		if got := answered(t, o.elicit, question); got != tt.want {
			t.Errorf("%s: the answer is %s, want %s", tt.name, got, tt.want)
		}
		if asked.Server != "m" || asked.Message != "Who?" || string(asked.Schema) != `{"type":"object"}` || string(asked.Raw) != question {
			t.Errorf("the question is %+v", asked)
		}
	}
	if got := answered(t, (&Options{}).elicit, question); got != `{"action":"decline"}` {
		t.Errorf("without a callback the answer is %s", got)
	}
}

// TestDialog: the callback's result completes the dialog. Without a callback the
// request stays open for other hosts.
func TestDialog(t *testing.T) {
	const request = `{"subtype":"request_user_dialog","dialog_kind":"pick","payload":{"of":2}}`
	result, failure := any("second"), error(nil)
	o := &Options{Logger: slog.New(slog.DiscardHandler), DialogKinds: []string{"pick"}, Dialog: func(_ context.Context, q *Dialog) (any, error) {
		if q.Kind != "pick" || string(q.Payload) != `{"of":2}` {
			t.Errorf("the dialog is %+v", q)
		}
		return result, failure
	}}
	if got, want := answered(t, o.dialog, request), `{"behavior":"completed","result":"second"}`; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	result, failure = nil, errors.New("closed")
	if got, want := answered(t, o.dialog, request), `{"behavior":"cancelled"}`; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	if _, err := (&Options{}).dialog(t.Context(), json.RawMessage(request))(); err != errUnanswered {
		t.Errorf("without a callback the answer is %v", err)
	}
	body, err := o.initialize(&tools{})
	if kinds, _ := body["supportedDialogKinds"].([]string); err != nil || len(kinds) != 1 {
		t.Errorf("initialize says %v (%v)", body, err)
	}
}

// TestSandbox: the sandbox is sent with the settings, be they JSON, a file, or none.
func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte(`{"model":"opus","big":9007199254740993}`), 0o600); err != nil {
		t.Fatal(err)
	}
	box := &Sandbox{Enabled: true}
	box.Network.AllowedDomains = []string{"example.org"}
	const sandbox = `"sandbox":{"enabled":true,"network":{"allowedDomains":["example.org"]}}`
	for _, tt := range []struct {
		settings, want, err string
	}{
		{"", `{` + sandbox + `}`, ""},
		{`{"model":"opus"}`, `{"model":"opus",` + sandbox + `}`, ""},
		{"s.json", `{"big":9007199254740993,"model":"opus",` + sandbox + `}`, ""},
		{`{"sandbox":{"enabled":false}}`, "", "both Settings and Sandbox"},
		{"none.json", "", "read Settings"},
	} {
		o := &Options{Dir: dir, Settings: tt.settings, Sandbox: box}
		body, err := o.initialize(&tools{})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: the error is %v, want %s", tt.settings, err, tt.err)
			}
			continue
		}
		if got, _ := body["settings"].(json.RawMessage); err != nil || string(got) != tt.want {
			t.Errorf("%s: the settings are %s (%v), want %s", tt.settings, got, err, tt.want)
		}
	}
}
