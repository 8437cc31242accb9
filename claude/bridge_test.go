package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// A fakeCLI is the other side of mcp_message.
type fakeCLI struct {
	t     *testing.T
	tools *tools
	log   *bytes.Buffer
	said  *queue[string] // by the servers, of themselves
}

func newFakeCLI(t *testing.T, ctx context.Context, o *Options) *fakeCLI {
	t.Helper()
	c := &fakeCLI{t: t, log: &bytes.Buffer{}, said: &queue[string]{}}
	o.Logger = slog.New(slog.NewTextHandler(c.log, nil))
	ts, err := openTools(ctx, ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	ts.send = func(server string, message json.RawMessage) { c.said.put(server + " " + string(message)) }
	c.tools = ts
	t.Cleanup(ts.close)
	return c
}

// begin sends a message; finish waits for the answer.
func (c *fakeCLI) begin(ctx context.Context, server, message string) (finish func() (string, error)) {
	c.t.Helper()
	request := fmt.Sprintf(`{"subtype":"mcp_message","server_name":%q,"message":%s}`, server, message)
	wait := c.tools.receive(ctx, json.RawMessage(request))
	return func() (string, error) {
		answer, err := wait()
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(answer)
		if err != nil {
			return "", err
		}
		text, ok := strings.CutPrefix(string(raw), `{"mcp_response":`)
		if !ok {
			return "", fmt.Errorf("no mcp_response: %s", raw)
		}
		return strings.TrimSuffix(text, "}"), nil
	}
}

func (c *fakeCLI) ask(server, message string) string {
	c.t.Helper()
	answer, err := c.begin(c.t.Context(), server, message)()
	if err != nil {
		c.t.Fatalf("%s: %v", message, err)
	}
	return answer
}

const (
	helloLine  = `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","title":"Claude Code","version":"2.1.329"}},"jsonrpc":"2.0","id":0}`
	readyLine  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ackLine    = `{"jsonrpc":"2.0","result":{},"id":0}`
	listLine   = `{"method":"tools/list","jsonrpc":"2.0","id":1}`
	callFormat = `{"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"claudecode/toolUseId":"toolu_%d","progressToken":%d}},"jsonrpc":"2.0","id":%d}`
)

func callLine(id int, tool, arguments string) string {
	return fmt.Sprintf(callFormat, tool, arguments, id, id, id)
}

// open does what the CLI does first.
func (c *fakeCLI) open(server string) {
	c.t.Helper()
	hello := c.ask(server, helloLine)
	if !strings.Contains(hello, `"protocolVersion":"2025-11-25"`) || !strings.Contains(hello, `"id":0`) {
		c.t.Fatalf("initialize: %s", hello)
	}
	if ack := c.ask(server, readyLine); ack != ackLine {
		c.t.Fatalf("initialized: %s", ack)
	}
}

type pair struct {
	A, B int
}

func addTool() *toolpost.Tool {
	return toolpost.New("add", "Add two numbers.", func(_ context.Context, in pair) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	}, nil)
}

// rawTool is a tool with a schema as it stands.
func rawTool(name, input string, h toolpost.Handler) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Description: "A test.", Input: schema.MustParse(input)}, Handler: h,
	}
}

func textHandler(text string) toolpost.Handler {
	return func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return toolpost.TextResult(text), nil }
}

func TestBridgeCall(t *testing.T) {
	var seen, from toolpost.Call
	id := toolpost.New("id", "Tell the id.", func(ctx context.Context, _ struct{}) (string, error) {
		from = *toolpost.CallFrom(ctx)
		return "done", nil
	}, nil)
	inner := id.Handler
	id.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		seen = *call
		return inner(ctx, call)
	}
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{addTool(), id}})
	c.open("tools")
	list := c.ask("tools", listLine)
	for _, want := range []string{`"name":"add"`, `"_meta":{"anthropic/alwaysLoad":true}`} {
		if !strings.Contains(list, want) {
			t.Errorf("list %s lacks %s", list, want)
		}
	}
	if got, want := c.ask("tools", callLine(2, "add", `{"A":2,"B":3}`)),
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"5"}]}}`; got != want {
		t.Errorf("call: %s, want %s", got, want)
	}
	c.ask("tools", callLine(3, "id", `{}`))
	if seen.ID != "toolu_3" || from.ID != "toolu_3" {
		t.Errorf("the call's id is %q, in the context %q", seen.ID, from.ID)
	}
	if got := c.ask("tools", callLine(4, "add", `{"A":"two","B":3}`)); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "invalid arguments") {
		t.Errorf("wrong arguments: %s", got)
	}
	if got := c.ask("tools", callLine(5, "sub", `{}`)); !strings.Contains(got, `"error":{`) {
		t.Errorf("unknown tool: %s", got)
	}
	if got := fmt.Sprint(c.tools.names(), c.tools.allowRules()); got != "[tools] [mcp__tools]" {
		t.Errorf("names and allowed: %s", got)
	}
}

func TestBridgeDependenciesOfTheRun(t *testing.T) {
	opened := 0
	counter := dep.New("counter", dep.PerRun, func(context.Context) (*int, error) { opened++; return new(int), nil })
	count := toolpost.New("count", "Count.", func(ctx context.Context, _ struct{}) (string, error) {
		n, err := counter.Get(ctx)
		if err != nil {
			return "", err
		}
		*n++
		return fmt.Sprint("n=", *n), nil
	}, nil)
	ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
	defer ctx.Close()
	c := newFakeCLI(t, ctx, &Options{Toolset: toolpost.Tools{count}})
	c.open("tools")
	c.ask("tools", callLine(2, "count", `{}`))
	if got := c.ask("tools", callLine(3, "count", `{}`)); !strings.Contains(got, "n=2") || opened != 1 {
		t.Errorf("second call: %s; opened %d times", got, opened)
	}
}

// The manifest is what the CLI would be answered, page for page.
func TestBridgeManifestOfManyPages(t *testing.T) {
	const many = 2200
	var all toolpost.Tools
	for i := range many {
		all = append(all, rawTool(fmt.Sprintf("tool_%04d", i), `{"type":"object"}`, textHandler("")))
	}
	features := &toolpost.Features{Instructions: "Use them well."}
	s, err := NewServer(t.Context(), "many", all, &ServerOptions{Features: features})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	raw, err := json.Marshal(c.tools.manifests())
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]struct {
		InitializeResult json.RawMessage
		ToolsListResult  struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		t.Fatal(err)
	}
	hello := c.ask("many", helloLine)
	if want := `"result":` + string(told["many"].InitializeResult); !strings.Contains(hello, want) || !strings.Contains(want, "Use them well.") {
		t.Errorf("initialize is answered by %s, the manifest has %s", hello, want)
	}
	c.ask("many", readyLine)
	var listed []json.RawMessage
	pages := 0
	for cursor, id := "", 1; ; id++ {
		answer := c.ask("many", fmt.Sprintf(`{"method":"tools/list","params":{"cursor":%q},"jsonrpc":"2.0","id":%d}`, cursor, id))
		page := readPage(wire.Get([]byte(answer), "result"))
		listed = append(listed, page.Tools...)
		pages++
		if cursor = page.next; cursor == "" {
			break
		}
	}
	if pages < 2 || len(listed) != many {
		t.Errorf("%d tools on %d pages", len(listed), pages)
	}
	if got, want := fmt.Sprintf("%s", told["many"].ToolsListResult.Tools), fmt.Sprintf("%s", listed); got != want {
		t.Errorf("the manifest and the list differ:\n%.300s\n%.300s", got, want)
	}
	if got := len(c.tools.port("many").listed); got != many {
		t.Errorf("%d names are known", got)
	}
}

func TestBridgeCallsRunInParallel(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	meet := toolpost.New("meet", "Wait for the other.", func(context.Context, struct{}) (string, error) {
		both.Done()
		both.Wait()
		return "met", nil
	}, nil)
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{meet}})
	c.open("tools")
	first := c.begin(t.Context(), "tools", callLine(2, "meet", `{}`))
	second := c.begin(t.Context(), "tools", callLine(3, "meet", `{}`))
	for _, finish := range []func() (string, error){first, second} {
		if got, err := finish(); err != nil || !strings.Contains(got, "met") {
			t.Errorf("%s, %v", got, err)
		}
	}
}

// untilCancelled tells when its call began, and why it ended.
func untilCancelled() (tool *toolpost.Tool, began, ended chan error) {
	began, ended = make(chan error), make(chan error, 1)
	return toolpost.New("wait", "Wait.", func(ctx context.Context, _ struct{}) (string, error) {
		began <- nil
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}, nil), began, ended
}

func TestBridgeCancelNotification(t *testing.T) {
	tool, began, ended := untilCancelled()
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tool, addTool()}})
	c.open("tools")
	finish := c.begin(t.Context(), "tools", callLine(2, "wait", `{}`))
	<-began
	if ack := c.ask("tools", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"AbortError: remote-cancel"}}`); ack != ackLine {
		t.Errorf("cancelled: %s", ack)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context: %v", err)
	}
	if got, err := finish(); err != nil || !strings.Contains(got, `"id":2,"error"`) {
		t.Errorf("the call is answered by %s, %v", got, err)
	}
	if got := c.ask("tools", callLine(3, "add", `{"A":1,"B":1}`)); !strings.Contains(got, `"2"`) {
		t.Errorf("the next call: %s", got)
	}
}

func TestBridgeCancelOfTheControlRequest(t *testing.T) {
	tool, began, ended := untilCancelled()
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tool}})
	c.open("tools")
	ctx, cancel := context.WithCancel(t.Context())
	finish := c.begin(ctx, "tools", callLine(2, "wait", `{}`))
	<-began
	cancel()
	if _, err := finish(); !errors.Is(err, context.Canceled) {
		t.Errorf("finish: %v", err)
	}
	<-ended
}

func TestBridgeCloseCancelsCalls(t *testing.T) {
	tool, began, ended := untilCancelled()
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tool}})
	c.open("tools")
	finish := c.begin(t.Context(), "tools", callLine(2, "wait", `{}`))
	<-began
	c.tools.close()
	<-ended
	if got, err := finish(); err == nil && !strings.Contains(got, `"error"`) {
		t.Errorf("finish: %s", got)
	}
}

// A handler that does not heed its context blocks neither calls nor the end.
func TestBridgeStubbornHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, began := make(chan struct{}), make(chan struct{})
		defer close(release)
		stubborn := toolpost.New("stubborn", "Go on.", func(context.Context, struct{}) (string, error) {
			close(began)
			<-release
			return "late", nil
		}, nil)
		c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{stubborn, addTool()}})
		c.open("tools")
		finish := c.begin(t.Context(), "tools", callLine(2, "stubborn", `{}`))
		<-began
		c.ask("tools", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if _, err := finish(); err != nil {
			t.Errorf("the cancelled call: %v", err)
		}
		if got := c.ask("tools", callLine(3, "add", `{"A":1,"B":1}`)); !strings.Contains(got, `"2"`) {
			t.Errorf("another call: %s", got)
		}
		start := time.Now()
		c.tools.close()
		if d := time.Since(start); d > leaveTime {
			t.Errorf("close took %v", d)
		}
		if !strings.Contains(c.log.String(), "still running although") {
			t.Errorf("log: %s", c.log)
		}
	})
}

func TestBridgeServerIsToldOfByName(t *testing.T) {
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{addTool()}})
	_, err := c.begin(t.Context(), "other", helloLine)()
	if err == nil || !strings.Contains(err.Error(), `no server "other"`) || !strings.Contains(err.Error(), "tools") {
		t.Errorf("unknown server: %v", err)
	}
	for _, request := range []string{`{}`, `{"server_name":"tools","message":[]}`, `[]`} {
		if _, err := c.tools.receive(t.Context(), json.RawMessage(request))(); err == nil {
			t.Errorf("%s: no error", request)
		}
	}
	s := newServer(t, "tools", addTool())
	if _, err := openTools(t.Context(), t.Context(), &Options{Toolset: toolpost.Tools{addTool()}, Servers: []*Server{s}}); err == nil || !strings.Contains(err.Error(), "two servers") {
		t.Errorf("two servers of one name: %v", err)
	}
	a, b := newServer(t, "a", addTool()), newServer(t, "b", addTool())
	bare := &Options{Servers: []*Server{a, b}, Env: []string{"CLAUDE_AGENT_SDK_MCP_NO_PREFIX=1"}}
	if _, err := openTools(t.Context(), t.Context(), bare); err == nil || !strings.Contains(err.Error(), "calls add") {
		t.Errorf("two tools of one name: %v", err)
	}
	outside := &Options{Servers: []*Server{a}, MCPServers: map[string]*MCPServer{"a": {Command: "a"}}}
	if _, err := openTools(t.Context(), t.Context(), outside); err == nil || !strings.Contains(err.Error(), "two servers") {
		t.Errorf("a server of the same name outside: %v", err)
	}
}

func TestBridgeAllowsServersThatDoNotAsk(t *testing.T) {
	ask, err := NewServer(t.Context(), "ask", toolpost.Tools{addTool()}, &ServerOptions{Ask: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ask.Close()
	c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{ask, newServer(t, "calc", addTool())}})
	if got := fmt.Sprint(c.tools.names(), c.tools.allowRules()); got != "[ask calc] [mcp__calc]" {
		t.Errorf("names and allowed: %s", got)
	}
}

func newServer(t *testing.T, name string, tools ...*toolpost.Tool) *Server {
	t.Helper()
	s, err := NewServer(t.Context(), name, toolpost.Tools(tools), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What the server cannot read is answered nevertheless.
func TestBridgeUnreadableMessages(t *testing.T) {
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{addTool()}})
	c.open("tools")
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for i, message := range []string{
		callLine(7, "add", `{"A":`+deep+`}`),
		callLine(7, "add", `{"A":"\ud83d"}`),
		callLine(7, "add", `{"A":1,"A":2}`),
		`{"id":7,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":[1],"method":"tools/list"}`,
	} {
		if got := c.ask("tools", message); !strings.Contains(got, `"error":{`) {
			t.Errorf("%d: %s", i, got)
		}
	}
	if got := c.ask("tools", callLine(8, "add", `{"A":1,"B":1}`)); !strings.Contains(got, `"2"`) {
		t.Errorf("the next call: %s", got)
	}
}

// With manifests, the CLI calls without having said hello.
func TestBridgeCallsAtOnce(t *testing.T) {
	now := toolpost.Tools{addTool()}
	s, err := NewServer(t.Context(), "live", toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return now, nil }), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	now = toolpost.Tools{addTool(), rawTool("new", `{"type":"object"}`, textHandler("I am new."))}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.said.mu.Lock()
	if len(c.said.items) > 0 {
		t.Errorf("the CLI was told %q before it knew the server", c.said.items)
	}
	c.said.mu.Unlock()
	if got := c.ask("live", callLine(2, "add", `{"A":1,"B":1}`)); !strings.Contains(got, `"2"`) {
		t.Errorf("call: %s", got)
	}
	if said, _ := c.said.next(t.Context()); !strings.Contains(said, "list_changed") {
		t.Errorf("said: %s", said)
	}
}

// mcp_toggle off and on makes the CLI begin again, with ids from 0.
func TestBridgeToggle(t *testing.T) {
	tool, began, ended := untilCancelled()
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tool, addTool()}})
	for range 3 {
		c.open("tools")
		c.ask("tools", listLine)
		if got := c.ask("tools", callLine(2, "add", `{"A":1,"B":1}`)); !strings.Contains(got, `"2"`) {
			t.Errorf("call: %s", got)
		}
	}
	c.begin(t.Context(), "tools", callLine(3, "wait", `{}`))
	<-began
	c.open("tools")
	<-ended
}

func TestBridgeListChange(t *testing.T) {
	now := toolpost.Tools{addTool()}
	s, err := NewServer(t.Context(), "live", toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return now, nil }), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	second := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	sessions := []*fakeCLI{first, second}
	for _, c := range sessions {
		c.open("live")
		c.ask("live", listLine)
	}
	now = toolpost.Tools{addTool(), rawTool("new", `{"type":"object"}`, textHandler("I am new.")), rawTool("bad", `{"type":"array"}`, textHandler(""))}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range sessions {
		if said, _ := c.said.next(t.Context()); !strings.HasPrefix(said, "live ") || !strings.Contains(said, `"notifications/tools/list_changed"`) {
			t.Errorf("the server said %s", said)
		}
		list := c.ask("live", `{"method":"tools/list","jsonrpc":"2.0","id":2}`)
		if !strings.Contains(list, `"new"`) || strings.Contains(list, `"bad"`) {
			t.Errorf("list: %s", list)
		}
		if got := c.ask("live", callLine(3, "new", `{}`)); !strings.Contains(got, "I am new.") {
			t.Errorf("call: %s", got)
		}
	}
	now = toolpost.Tools{addTool(), addTool()}
	if err := s.Refresh(t.Context()); err == nil {
		t.Error("two tools of one name: no error")
	}
	if got := first.ask("live", callLine(4, "new", `{}`)); !strings.Contains(got, "I am new.") {
		t.Errorf("after a list that is wrong: %s", got)
	}
}

func TestBridgeProgressAndAnswersOfTheCLI(t *testing.T) {
	tell := toolpost.New("tell", "Tell.", func(ctx context.Context, _ struct{}) (string, error) {
		call := toolpost.CallFrom(ctx)
		if err := call.Progress(ctx, 1, 2, "half"); err != nil {
			return "", err
		}
		var answer json.RawMessage
		err := call.Ask(ctx, "elicitation/create", map[string]any{}, &answer)
		return fmt.Sprint(errors.Is(err, toolpost.ErrNoCaller)), nil
	}, nil)
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tell}})
	c.open("tools")
	if got := c.ask("tools", callLine(2, "tell", `{}`)); !strings.Contains(got, "true") {
		t.Errorf("asking a CLI that cannot answer: %s", got)
	}
	if said, _ := c.said.next(t.Context()); !strings.Contains(said, `"notifications/progress"`) || !strings.Contains(said, "half") {
		t.Errorf("progress: %s", said)
	}
	if ack := c.ask("tools", `{"jsonrpc":"2.0","id":"srv-1","error":{"code":-32601,"message":"Method not found"}}`); ack != ackLine {
		t.Errorf("an answer of the CLI is answered by %s", ack)
	}
}

// The CLI reads all progress of a call before its result.
func TestBridgeProgressComesFirst(t *testing.T) {
	const many = 100
	tell := toolpost.New("tell", "Tell.", func(ctx context.Context, _ struct{}) (string, error) {
		for i := range many {
			if err := toolpost.CallFrom(ctx).Progress(ctx, float64(i), many, ""); err != nil {
				return "", err
			}
		}
		return "done", nil
	}, nil)
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tell}})
	c.open("tools")
	for id := 2; id < 12; id++ {
		c.ask("tools", callLine(id, "tell", `{}`))
		c.said.mu.Lock()
		if got := len(c.said.items); got != many {
			t.Errorf("call %d is answered after %d of %d messages", id, got, many)
		}
		c.said.items = nil
		c.said.mu.Unlock()
	}
}

// Calls with ids of every kind are answered with these ids, and cancelled by
// them however they are written.
func TestBridgeIDs(t *testing.T) {
	tool, began, ended := untilCancelled()
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{tool, addTool()}})
	c.open("tools")
	for _, id := range []string{`7`, `"7"`, `"é"`, `-1`, `""`} {
		request := strings.Replace(callLine(99, "add", `{"A":1,"B":1}`), `"id":99`, `"id":`+id, 1)
		if got := c.ask("tools", request); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+id+`,"result"`) {
			t.Errorf("%s: %s", id, got)
		}
	}
	finish := c.begin(t.Context(), "tools", strings.Replace(callLine(99, "wait", `{}`), `"id":99`, `"id":"a/b"`, 1))
	<-began
	if _, err := c.begin(t.Context(), "tools", strings.Replace(callLine(99, "add", `{}`), `"id":99`, `"id":"a\u002fb"`, 1))(); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the id of a call under way: %v", err)
	}
	c.ask("tools", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061\/b"}}`)
	<-ended
	if got, err := finish(); err != nil || !strings.Contains(got, `"id":"a/b","error"`) {
		t.Errorf("the call is answered by %s, %v", got, err)
	}
}

// One server in many sessions at once, each with many calls.
func TestBridgeSharedServer(t *testing.T) {
	s := newServer(t, "calc", addTool())
	var all sync.WaitGroup
	for range 16 {
		c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
		all.Go(func() {
			c.open("calc")
			var calls sync.WaitGroup
			for i := range 20 {
				finish := c.begin(t.Context(), "calc", callLine(i+2, "add", fmt.Sprintf(`{"A":%d,"B":1000}`, i)))
				calls.Go(func() {
					want := fmt.Sprintf(`"text":"%d"`, i+1000)
					if got, err := finish(); err != nil || !strings.Contains(got, want) {
						t.Errorf("call %d: %s, %v", i, got, err)
					}
				})
			}
			calls.Wait()
			c.tools.close()
		})
	}
	all.Wait()
}

func TestBridgeServerClosed(t *testing.T) {
	tool, began, ended := untilCancelled()
	s := newServer(t, "calc", tool)
	c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	c.open("calc")
	finish := c.begin(t.Context(), "calc", callLine(2, "wait", `{}`))
	<-began
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if got, err := finish(); err == nil && !strings.Contains(got, `"error"`) {
		t.Errorf("finish: %s", got)
	}
	if got, err := c.begin(t.Context(), "calc", callLine(3, "wait", `{}`))(); err == nil && !strings.Contains(got, `"error"`) {
		t.Errorf("a later call: %s", got)
	}
}
