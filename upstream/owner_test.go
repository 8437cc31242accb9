package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// prober is a server with a tool that logs and asks, and returns what it is
// answered. Its other calls are not answered, but for "quick".
func prober(o *odd) {
	var held *message // is asked about when the next call has come
	o.call = func(m *message) {
		switch {
		case strings.Contains(m.raw, `"held"`):
			o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
			held = m
		case held != nil:
			asks := held
			held = nil
			ask(o, asks)
		case strings.Contains(m.raw, `"quick"`):
			o.text(m, "quick")
		case strings.Contains(m.raw, `"probe"`):
			o.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"secret"}}`)
			ask(o, m)
		default:
			o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
		}
	}
	o.serve()
}

// An asker is a client: it accepts whatever it is asked by a method of MCP.
type asker struct {
	*recorder
	session string
	shared  bool
}

func newAsker(session string) *asker {
	r := newRecorder()
	r.answer = func(method string, _ json.RawMessage) (json.RawMessage, error) {
		if method == "odd/request" {
			return nil, toolpost.ErrNoCaller
		}
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	return &asker{recorder: r, session: session}
}

func (a *asker) call(do string) *toolpost.Call {
	call := &toolpost.Call{Name: "t", Arguments: json.RawMessage(fmt.Sprintf(`{"do":%q}`, do)), Caller: a}
	return hidden.WithOwner(call, hidden.Owner{Session: a.session, Shared: a.shared})
}

// run makes a call and returns its text.
func (a *asker) run(t *testing.T, s *server, do string) string {
	t.Helper()
	result, err := s.call(t.Context(), a.call(do))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := result.FirstText()
	return text
}

// begin makes a call that is never answered, and returns when the server has it.
func (a *asker) begin(t *testing.T, s *server) (abandon func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _, _ = s.call(ctx, a.call("wait")) })
	abandon = func() { cancel(); done.Wait() }
	t.Cleanup(abandon)
	<-a.told
	return abandon
}

// leaving is a caller that takes no questions any more.
type leaving struct{ *asker }

func (leaving) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, fmt.Errorf("%w: broken pipe", io.ErrClosedPipe)
}

// A question that cannot be delivered on the connection of one call, which its client
// has closed, reaches the client through another call.
func TestQuestionAfterACallWasLeft(t *testing.T) {
	s := start(t, child(t, "prober")).ready(t)
	a := newAsker("session a")
	answer := make(chan string, 1)
	var calls sync.WaitGroup
	calls.Go(func() { answer <- a.run(t, s, "held") })
	<-a.told
	ctx, cancel := context.WithCancel(t.Context())
	calls.Go(func() {
		call := a.call("wait")
		call.Caller = leaving{a}
		_, _ = s.call(ctx, call)
	})
	if got := <-answer; !strings.Contains(got, `"action":"accept"`) {
		t.Errorf("got %s", got)
	}
	cancel()
	calls.Wait()
}

// What a server asks or logs without saying for which call reaches a client
// only if no other client can be meant.
func TestQuestionsReachTheirClient(t *testing.T) {
	const accepted, refused, alike = `"action":"accept"`, `per-session`, `one call of this server at a time`
	tests := []struct {
		name string
		run  func(t *testing.T, s *server, a, b *asker) string
		want string
	}{
		{"the only client", func(t *testing.T, s *server, a, _ *asker) string {
			a.run(t, s, "quick")
			return a.run(t, s, "probe")
		}, accepted},
		{"the only client, in two calls", func(t *testing.T, s *server, a, _ *asker) string {
			a.begin(t, s)
			return a.run(t, s, "probe")
		}, accepted},
		{"the only client, after a cancelled call", func(t *testing.T, s *server, a, _ *asker) string {
			a.begin(t, s)()
			return a.run(t, s, "probe")
		}, accepted},
		{"two clients at once", func(t *testing.T, s *server, a, b *asker) string {
			a.begin(t, s)
			return b.run(t, s, "probe")
		}, refused},
		{"after a cancelled call of another client", func(t *testing.T, s *server, a, b *asker) string {
			a.begin(t, s)()
			return b.run(t, s, "probe")
		}, refused},
		{"after a finished call of another client", func(t *testing.T, s *server, a, b *asker) string {
			a.run(t, s, "quick") // it may have left a job behind
			return b.run(t, s, "probe")
		}, refused},
		{"a client without session, in two calls", func(t *testing.T, s *server, a, _ *asker) string {
			a.shared = true
			a.begin(t, s)
			return a.run(t, s, "probe")
		}, alike},
		{"a client without session, after a cancelled call", func(t *testing.T, s *server, a, _ *asker) string {
			a.shared = true
			a.begin(t, s)()
			return a.run(t, s, "probe")
		}, alike},
		{"a client without session", func(t *testing.T, s *server, a, _ *asker) string {
			a.shared = true
			a.run(t, s, "quick")
			return a.run(t, s, "probe")
		}, accepted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, child(t, "prober")).ready(t)
			a, b := newAsker("session a"), newAsker("session b")
			if got := test.run(t, s, a, b); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			logged := strings.Contains(strings.Join(append(a.heard, b.heard...), " "), "secret")
			if logged != (test.want == accepted) {
				t.Errorf("a heard %q, b heard %q", a.heard, b.heard)
			}
		})
	}
}

// A server over HTTP that asks on its own stream, after its call has ended, does
// not get the answer of another client that happens to make a call.
func TestQuestionsOfEndedCalls(t *testing.T) {
	server := sdkServer(t.Context())
	later, asked := make(chan struct{}), make(chan error, 1)
	server.AddTool(&mcp.Tool{Name: "job", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		go func() {
			<-later
			_, err := r.Session.Elicit(context.Background(), &mcp.ElicitParams{Message: "secret", RequestedSchema: map[string]any{"type": "object"}})
			asked <- err
		}()
		return &mcp.CallToolResult{}, nil
	})
	s := start(t, &upstream.Config{URL: serve(t, streamableHandler(t, server, false)).URL}).ready(t)
	a, b := newAsker("session a"), newAsker("session b")
	call := func(ctx context.Context, a *asker, name string) error {
		c := a.call("")
		c.Name = name
		_, err := s.call(ctx, c)
		return err
	}
	if err := call(t.Context(), a, "job"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var done sync.WaitGroup
	done.Go(func() { _ = call(ctx, b, "slow") })
	<-b.told
	close(later)
	if err := <-asked; err == nil || !strings.Contains(err.Error(), "more than one client") {
		t.Errorf("the question of a's job: %v", err)
	}
	cancel()
	done.Wait()
}

// A server that asks for roots after the handshake gets those of its first
// client before the first call, and new ones after they have changed.
func TestRootsOfTheOnlyClient(t *testing.T) {
	s := start(t, child(t, "rooted")).ready(t)
	a := newAsker("session a")
	roots := "one"
	a.answer = func(method string, _ json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"roots":[{"uri":"file:///` + roots + `"}]}`), nil
	}
	if got, want := a.run(t, s, "quick"), `{"roots":[{"uri":"file:///one"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	roots = "two"
	s.RootsChanged("session b")
	if got := a.run(t, s, "quick"); !strings.Contains(got, "one") {
		t.Errorf("the roots of another client changed: got %s", got)
	}
	s.RootsChanged("session a")
	if got := a.run(t, s, "quick"); !strings.Contains(got, "two") {
		t.Errorf("got %s", got)
	}
	b := newAsker("session b")
	b.answer = a.answer
	roots = "three"
	if got := b.run(t, s, "quick"); !strings.Contains(got, "two") {
		t.Errorf("got %s", got)
	}
}

// mute never answers a request, but notes that one has a limit.
type mute struct{ limited bool }

func (*mute) Notify(context.Context, string, json.RawMessage) error { return nil }

func (m *mute) Request(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	_, m.limited = ctx.Deadline()
	return nil, context.DeadlineExceeded
}

// A client that does not say which roots it has gets its call all the same.
func TestRootsWithoutAnswer(t *testing.T) {
	s := start(t, child(t, "rooted")).ready(t)
	m := &mute{}
	if _, err := s.call(t.Context(), &toolpost.Call{Session: "session a", Name: "t", Arguments: json.RawMessage(`{"do":"quick"}`), Caller: m}); err != nil {
		t.Error(err)
	}
	if !m.limited {
		t.Error("the client may take any time to answer")
	}
}

// rooted asks for roots after the handshake and when they have changed. Its
// tool returns the roots.
func rooted(o *odd) {
	roots, asked := "none", 0
	list := func() {
		asked++
		o.send(`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}`, asked)
	}
	o.call = func(m *message) { o.text(m, roots) }
	o.other = func(m *message) {
		switch {
		case m.Method == "notifications/initialized", m.Method == "notifications/roots/list_changed":
			list()
		case m.Result != nil:
			roots = string(m.Result)
		}
	}
	o.serve()
}

// A client that asks for no progress sends no token, and the server gets none.
func TestNoTokenOfOurOwn(t *testing.T) {
	s := start(t, &upstream.Config{Command: child(t, "raw").Command, Env: child(t, "raw", "TOOLS", `"tools":[{"name":"params","inputSchema":{"type":"object"}}]`).Env}).ready(t)
	for params, want := range map[string]string{
		`{"name":"params"}`:                 `{"name":"params","arguments":{}}`,
		`{"name":"params","_meta":{"x":1}}`: `{"name":"params","_meta":{"x":1},"arguments":{}}`,
	} {
		result, err := s.call(t.Context(), &toolpost.Call{Name: "params", Params: json.RawMessage(params), Caller: newRecorder()})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := result.FirstText(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
