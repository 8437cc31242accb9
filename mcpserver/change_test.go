package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// soon waits for a value, and fails the test if none comes.
func soon[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s did not come", what)
	}
	return v
}

// changes are the notifications that a client got, by name.
type changes struct{ tools, prompts, resources, updated chan string }

func watchChanges() (*changes, *mcp.ClientOptions) {
	c := &changes{make(chan string, 99), make(chan string, 99), make(chan string, 99), make(chan string, 99)}
	return c, &mcp.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { c.tools <- "" },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { c.prompts <- "" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { c.resources <- "" },
		ResourceUpdatedHandler:     func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
	}
}

func TestListChanged(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		a, b := textTool("a", "a"), textTool("b", "b")
		s := serve(t, nil, a)
		features := func(prompt string) *toolpost.Features {
			return &toolpost.Features{Prompts: []*toolpost.Prompt{{Name: prompt}}, Resources: []*toolpost.Resource{{URI: "x://1"}}}
		}
		s.SetFeatures(features("p"))
		got, opts := watchChanges()
		session, stands := w.dial(t, s, opts)
		if w.isModern() {
			soon(t, stands, "the subscription to lists")
		}
		s.tools.set(t, a)              // the same
		s.SetFeatures(features("p"))   // the same
		s.tools.set(t, a, b)           // another
		s.SetFeatures(features("new")) // another prompt, the same resources
		soon(t, got.tools, "tools/list_changed")
		soon(t, got.prompts, "prompts/list_changed")
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 2 {
			t.Errorf("tools: %+v, %v", list, err)
		}
		changed := textTool("b", "b")
		changed.Description = "another description"
		s.tools.set(t, a, changed)
		soon(t, got.tools, "tools/list_changed for a description")
		if len(got.tools)+len(got.prompts)+len(got.resources) > 0 {
			t.Errorf("more was told than changed: %d tools, %d prompts, %d resources", len(got.tools), len(got.prompts), len(got.resources))
		}
	})
}

func TestResourceUpdates(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		var mu sync.Mutex
		var asked []string
		on, off := make(chan string, 9), make(chan string, 9)
		s := serve(t, nil)
		s.SetFeatures(&toolpost.Features{
			Resources: []*toolpost.Resource{{URI: "x://1"}},
			Subscribe: func(_ context.Context, uri string, start bool) error {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, fmt.Sprint(uri, " ", start))
				if start {
					on <- uri
				} else {
					off <- uri
				}
				return nil
			},
		})
		got, opts := watchChanges()
		opts.ToolListChangedHandler, opts.PromptListChangedHandler, opts.ResourceListChangedHandler = nil, nil, nil
		first, stands := w.dial(t, s, opts)
		second, stands2 := w.dial(t, s, nil)
		for _, session := range []*mcp.ClientSession{first, second} {
			if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x://1"}); err != nil {
				t.Fatal(err)
			}
		}
		if w.isModern() {
			soon(t, stands, "the first subscription")
			soon(t, stands2, "the second subscription")
		}
		soon(t, on, "the call of Subscribe")
		s.tools.Notify(toolpost.Event{Resource: "x://2"})
		s.tools.Notify(toolpost.Event{Resource: "x://1"})
		if uri := soon(t, got.updated, "the update"); uri != "x://1" {
			t.Errorf("updated %s", uri)
		}
		_ = first.Close()
		_ = second.Close()
		soon(t, off, "the end of the subscription")
		mu.Lock()
		defer mu.Unlock()
		if len(asked) != 2 {
			t.Errorf("the source was asked %v", asked)
		}
	})
}

// A rawStdio is a session at which a test writes lines itself.
type rawStdio struct {
	in   *io.PipeWriter
	out  *lineReader
	done chan error
}

func stdio(t *testing.T, s *served, ctx context.Context) *rawStdio {
	t.Helper()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	r := &rawStdio{in: in, out: newLineReader(out), done: make(chan error, 1)}
	go func() {
		r.done <- s.ServeStdio(ctx, toServer, fromServer)
		_ = fromServer.Close()
	}()
	t.Cleanup(func() { _ = in.Close() })
	return r
}

func (r *rawStdio) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// lineReader reads lines in the background, so that the writer never waits.
type lineReader struct{ lines chan string }

func newLineReader(r io.Reader) *lineReader {
	l := &lineReader{make(chan string, 999)}
	go func() {
		defer close(l.lines)
		data := ""
		buf := make([]byte, 1<<16)
		for {
			n, err := r.Read(buf)
			data += string(buf[:n])
			for {
				line, rest, ok := strings.Cut(data, "\n")
				if !ok {
					break
				}
				l.lines <- line
				data = rest
			}
			if err != nil {
				return
			}
		}
	}()
	return l
}

func TestBadLines(t *testing.T) {
	s := serve(t, nil, echoTool())
	r := stdio(t, s, t.Context())
	tests := []struct {
		line string
		code int
		id   string
	}{
		{"garbage", -32700, "null"},
		{`{"jsonrpc":"2.0","id":1,"method":"pi`, -32700, "null"},
		{"\xff\xfe", -32700, "null"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":3}`, -32600, "3"},
		{strings.Repeat("[", 1000), -32700, "null"},
		{strings.Repeat("x", 65<<20), -32600, "null"},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo"}}`, -32600, "4"}, // before initialize
	}
	check := func(line string, code int, id string) {
		t.Helper()
		r.send(t, line)
		answer := soon(t, r.out.lines, "an answer")
		if got, gotID := (exchange{body: answer}).errorCode(t); code != got || gotID != id {
			t.Errorf("%.40s: %s", line, answer)
		}
	}
	for _, tt := range tests {
		check(tt.line, tt.code, tt.id)
	}
	r.send(t, "")
	r.send(t, initialize+"\r")
	if answer := soon(t, r.out.lines, "an answer"); !strings.Contains(answer, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("initialize: %s", answer)
	}
	check(initialize, -32600, "0")
	check("["+ping+"]", -32600, "null")
	check(`{"jsonrpc":"2.0","id":5,"method":"no/such"}`, -32601, "5")
	r.send(t, ping)
	if answer := soon(t, r.out.lines, "an answer"); answer != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("ping: %s", answer)
	}
}

func TestBatchOverStdio(t *testing.T) {
	s := serve(t, nil, echoTool())
	r := stdio(t, s, t.Context())
	r.send(t, strings.Replace(initialize, "2025-11-25", "2025-03-26", 1))
	soon(t, r.out.lines, "an answer")
	r.send(t, "["+ping+`,{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"echo"}}]`)
	var answers []struct{ ID any }
	line := soon(t, r.out.lines, "an answer")
	if err := json.Unmarshal([]byte(line), &answers); err != nil || len(answers) != 2 {
		t.Errorf("got %s: %v", line, err)
	}
}

// What is open when the input ends is finished first.
func TestEndOfInput(t *testing.T) {
	started, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, nil, rawTool("slow", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		close(started)
		<-goOn
		return toolpost.TextResult("finished"), nil
	}))
	r := stdio(t, s, t.Context())
	r.send(t, initialize)
	soon(t, r.out.lines, "an answer")
	r.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	soon(t, started, "the call")
	_ = r.in.Close()
	close(goOn)
	if answer := soon(t, r.out.lines, "the answer"); !strings.Contains(answer, "finished") {
		t.Errorf("got %s", answer)
	}
	if err := soon(t, r.done, "the end"); err != nil {
		t.Error(err)
	}
}

func TestEndOfContext(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, nil, rawTool("wait", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	r := stdio(t, s, ctx)
	r.send(t, initialize)
	soon(t, r.out.lines, "an answer")
	r.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`)
	soon(t, started, "the call")
	cancel()
	if err := soon(t, r.done, "the end"); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		started := make(chan struct{})
		s := serve(t, nil, rawTool("wait", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		session := w.connect(t, s, nil)
		ended := make(chan error, 1)
		go func() {
			_, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "wait"})
			ended <- err
		}()
		soon(t, started, "the call")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := soon(t, ended, "the end of the call"); err == nil {
			t.Error("the call has a result")
		}
	})
}
