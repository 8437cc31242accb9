package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/message"
)

// A tape is a CLI that says what is on it, whatever the host does.
type tape struct {
	lines [][]byte
	ended chan struct{}
	once  sync.Once

	mu    sync.Mutex
	wrote [][]byte
}

func (p *tape) ReadLine() ([]byte, error) {
	if len(p.lines) == 0 {
		<-p.ended // it waits for more input
		return nil, io.EOF
	}
	line := p.lines[0]
	p.lines = p.lines[1:]
	return line, nil
}

func (p *tape) WriteLine(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote = append(p.wrote, bytes.Clone(line))
	return nil
}

func (p *tape) CloseInput() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

func (p *tape) Close() error { return p.CloseInput() }

// onTape begins a session with a tape.
func onTape(t *testing.T, p *tape, opts *Options, once bool) *Session {
	t.Helper()
	ctx, finish := context.WithCancelCause(t.Context())
	r := &run{
		opts: opts, once: once, output: newOutputWatch(nil), finish: finish, end: func() error { return nil },
		ready: make(chan struct{}), ended: make(chan struct{}),
	}
	var err error
	if r.tools, err = openTools(ctx, ctx, opts); err != nil {
		t.Fatal(err)
	}
	attach(ctx, r, p)
	go r.read(func() bool { return true })
	if err := introduce(ctx, r); err != nil && !errors.Is(err, io.EOF) {
		t.Logf("initialize: %v", err)
	}
	return &Session{r}
}

// FuzzProtocol has a CLI say anything: a run ends, all that it does ends with it,
// and no request is answered twice.
func FuzzProtocol(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, once bool) {
		synctest.Test(t, func(t *testing.T) { play(t, data, once) })
	})
}

// seed adds what the CLI says in recordings, and what hurts.
func seed(f *testing.F) {
	f.Helper()
	names, err := filepath.Glob("testdata/recordings/*/stdio.jsonl")
	if err != nil || len(names) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var said []byte
		for line := range bytes.Lines(data) {
			var e struct {
				Dir  string
				Line json.RawMessage
			}
			if err := json.Unmarshal(line, &e); err != nil {
				f.Fatal(err)
			}
			if e.Dir == "stdout" && len(e.Line) < 2000 { // short seeds are tried faster
				said = append(append(said, e.Line...), '\n')
			}
		}
		f.Add(said, i%2 == 0)
	}
	call := `{"type":"control_request","request_id":"1","request":{"subtype":"mcp_message","server_name":"tools","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shout","arguments":{"text":"x"}}}}}`
	f.Add([]byte(call+"\n"+call+"\n"+`{"type":"control_cancel_request","request_id":"1"}`), true)
	f.Add([]byte(`{"type":"control_request","request_id":"","request":null}`), false)
	f.Add([]byte(`{"type":"control_response","response":{"subtype":"error","request_id":"toolpost_1","error":"no"}}`), true)
	f.Add([]byte(`{"type":"control_request","request_id":"2","request":{"subtype":"hook_callback","callback_id":"hook_9","input":{}}}`), true)
	f.Add([]byte(`{"type":"control_request","request_id":"3","request":{"subtype":"can_use_tool","tool_name":"x","input":{}}}`), true)
	f.Add([]byte("null\n[]\n{}\n{\"type\":5}"), true)
}

func play(t *testing.T, data []byte, once bool) {
	shout := toolpost.New("shout", "Say it loud.", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text + "!", nil
	}, nil)
	opts := &Options{
		Toolset: toolpost.Tools{shout}, SkipMalformed: true, AllowDropped: true,
		Logger: slog.New(slog.DiscardHandler),
		Permission: func(context.Context, *PermissionRequest) (*Decision, error) {
			return &Decision{Allow: true}, nil
		},
		Hooks: []Hook{{Event: PreToolUse, Handle: func(context.Context, *HookInput) (*HookOutput, error) { return nil, nil }}},
	}
	p := &tape{ended: make(chan struct{})}
	asked := map[string]int{}
	parser := message.Parser{}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		p.lines = append(p.lines, line)
		m, err := parser.Parse(bytes.Clone(line))
		var own any
		if err == nil {
			own, err = control.Decode(m)
		}
		if q, ok := own.(*control.Request); ok {
			asked[q.ID]++
		} else if unread := unreadID(line); err != nil && unread != "" {
			asked[unread]++ // a request that cannot be read is answered too, with the reason
		}
	}
	s := onTape(t, p, opts, once)
	if _, err := s.Send(t.Context(), "go"); err != nil {
		t.Logf("send: %v", err)
	}
	synctest.Wait()
	_ = s.Close()
	for _, err := range s.Messages(context.Background()) {
		if err != nil {
			break
		}
	}
	checkWritten(t, p, asked)
}

// unreadID returns the id of a line that is a control request at all.
func unreadID(line []byte) string {
	var q struct {
		Type      string
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(line, &q); err != nil || q.Type != "control_request" {
		return ""
	}
	return q.RequestID
}

// checkWritten looks at what the CLI got.
func checkWritten(t *testing.T, p *tape, asked map[string]int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.wrote {
		var l struct {
			Type     string
			Response struct {
				Subtype   string
				RequestID string `json:"request_id"`
			}
		}
		if err := json.Unmarshal(line, &l); err != nil || bytes.ContainsRune(line, '\n') {
			t.Fatalf("the CLI cannot read %q: %v", line, err)
		}
		if l.Type != "control_response" {
			continue
		}
		if asked[l.Response.RequestID]--; asked[l.Response.RequestID] < 0 {
			t.Fatalf("an answer that nobody asked for: %s", line)
		}
	}
}
