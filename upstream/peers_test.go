package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/schema"
)

// A script is what a fuzzer does, a byte at a time. It ends with zeros.
type script []byte

func (s *script) next() int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b)
}

// Steps of a script.
const (
	callEcho = iota // the number of progress messages follows
	callAsk         // how its client answers
	callWait        // how long it takes
	leave           // a client cancels one of its calls
	plan            // what the network does to a message: which network, direction, mishap
	change          // the server has another list
	pass            // time passes
	settle          // all that can happen now happens
	shut            // a client ends
	steps
)

// FuzzPeers has our clients and our servers talk to each other in memory over a
// network that cuts, delays, repeats, drops and reorders messages and breaks
// connections. Whatever happens, every call ends, with its own result or with an
// error; its progress is its own and comes before the result; a question reaches
// the client of the call and the answer the handler that asked; and in the end
// nothing is left: the bubble ends when all its goroutines have ended. Without a
// mishap, every call succeeds; one that asks only if there is one client, as
// servers do not say whom they ask.
func FuzzPeers(f *testing.F) {
	for form := range byte(forms) {
		clients := form / 2 % 3
		f.Add([]byte{form, clients, callEcho, 0, 3, callAsk, 1, 0, callEcho, 2, 9, callAsk, 0, 1, change, 1, pass, 50, callAsk, 2, 2, callWait, 0, 9})
		f.Add([]byte{form, clients, callWait, 0, 200, settle, leave, 0, 0, callWait, 1, 100, callEcho, 1, 200, settle, shut, 1, callEcho, 1, 5, pass, 255})
		for kind := form % 3; kind < mishaps; kind += 3 {
			to := form / 3 % 2
			f.Add([]byte{form, clients, plan, 0, to, kind, 20, callEcho, 0, 5, settle, plan, 1, to, kind, 3, callAsk, 0, 0, callEcho, 1, 4,
				callAsk, 1, 1, settle, plan, 1, 1 - to, kind, 90, callWait, 0, 3, pass, 90, callEcho, 0, 1, pass, 255, callEcho, 0, 2})
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 200 {
			return // long enough for everything
		}
		synctest.Test(t, func(t *testing.T) { play(t, script(data)) })
	})
}

// Forms of the connection between clients and server. There may be a second one,
// to a server behind: then the first server is a gateway. The server behind may
// be that of the MCP SDK, over stdio.
var connections = []struct {
	transport Transport
	version   string
}{{Stdio, ""}, {HTTP, ""}, {SSE, ""}, {Stdio, modernVersion}, {HTTP, modernVersion}, {HTTP, wire.LastBatch}, {Stdio, "2024-11-05"}}

var (
	ourForms = len(connections) * (len(connections) + 2)
	forms    = ourForms + len(connections) + 2 // with clients of the MCP SDK, over stdio
)

// A world is one run: clients, servers and the networks between them.
type world struct {
	t       *testing.T
	log     *slog.Logger
	nets    []*network // before the server, and behind it
	clients []*client
	back    *toolpost.Live // what the last server serves
	ends    []func()
	calls   int
	clear   atomic.Bool // every question belongs to the only client, who answers
	active  sync.WaitGroup

	mu    sync.Mutex
	open  int // calls
	extra int // of the tools of the last server
}

// A client makes calls.
type client struct {
	name  string
	call  func(ctx context.Context, o *outgoing, tool string, arguments []byte) (string, error)
	close func() error
	open  []context.CancelFunc
	shut  atomic.Bool
}

func play(t *testing.T, s script) {
	w := &world{t: t, log: slog.New(&watcher{t})}
	form, clients := s.next()%forms, s.next()%3+1
	w.clear.Store(clients == 1 && (form < len(connections) || form == ourForms))
	w.build(form, clients)
	for n := 0; len(s) > 0 && n < 40; n++ {
		w.step(&s)
	}
	w.end()
}

// build makes the servers from the last one on, and then the clients.
func (w *world) build(form, clients int) {
	sdk, form := form >= ourForms, form%ourForms
	front, behind := connections[form%len(connections)], form/len(connections)
	if sdk {
		behind = form % (len(connections) + 2)
	}
	live, err := toolpost.NewLive(context.Background(), toolpost.ToolsetFunc(w.tools))
	if err != nil {
		w.t.Fatal(err)
	}
	w.back = live
	server := w.server(live)
	if behind > 0 {
		hop, over := connections[(behind-1)%len(connections)], ours(server)
		if behind > len(connections) {
			hop, over = connections[0], sdkServer(w.asks)
		}
		u := w.start(over, w.listen(server), hop.transport, hop.version)
		_ = u.Ready(context.Background())
		server = w.server(u)
	}
	listening := w.listen(server)
	for i := range clients {
		c := &client{name: fmt.Sprintf("client%d", i)}
		w.clients = append(w.clients, c)
		if sdk {
			w.sdkClient(c, ours(server))
			continue
		}
		u := w.start(ours(server), listening, front.transport, front.version)
		if err := u.Ready(w.t.Context()); err != nil {
			w.t.Errorf("a client is not ready: %v", err)
		}
		c.call, c.close = u.handle, u.Close
	}
}

func (w *world) server(ts toolpost.Toolset) *mcpserver.Server {
	s, err := mcpserver.New(w.t.Context(), ts, &mcpserver.Options{Logger: w.log})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ends = append(w.ends, func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.nets = append(w.nets, &network{})
	return s
}

func (w *world) listen(s *mcpserver.Server) *listener {
	l, end := serve(s)
	w.ends = append(w.ends, end)
	return l
}

// ours serves s over stdio.
func ours(s *mcpserver.Server) service {
	return func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
		return s.ServeStdio(ctx, in, out)
	}
}

// start connects to s over the newest network.
func (w *world) start(s service, l *listener, t Transport, version string) *Upstream {
	net := w.nets[len(w.nets)-1]
	cfg := &Config{Name: "peer", ProtocolVersion: version, ConnectTimeout: time.Minute}
	switch t {
	case Stdio:
		cfg.Command, cfg.spawn = "memory", net.spawn(s)
	default:
		cfg.URL, cfg.Transport, cfg.Wrap = "http://127.0.0.1/mcp", t, net.wrap(l)
		if t == SSE {
			cfg.URL = "http://127.0.0.1/sse"
		}
	}
	u, err := Start(cfg, &Options{Logger: w.log, Grace: 30 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ends = append(w.ends, func() { u.Close() })
	return u
}

// tools are those of the last server.
func (w *world) tools(context.Context) ([]*toolpost.Tool, error) {
	tool := func(name string, h toolpost.Handler) *toolpost.Tool {
		return &toolpost.Tool{Definition: toolpost.Definition{Name: name, Description: name, Input: schema.MustParse(`{"type":"object"}`)}, Handler: h}
	}
	all := []*toolpost.Tool{tool("echo", echoes), tool("ask", w.asks), tool("wait", waits)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.extra {
		all = append(all, tool(fmt.Sprintf("extra%d", i), echoes))
	}
	return all, nil
}

// arguments are those of all tools.
type arguments struct {
	Nonce string
	Count int
}

func read(call *toolpost.Call) (a arguments) {
	_ = json.Unmarshal(call.Arguments, &a)
	return a
}

// echoes returns its nonce, after some progress.
func echoes(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	a := read(call)
	for i := range a.Count {
		if call.Caller != nil {
			_ = call.Caller.Notify(ctx, "notifications/progress", []byte(fmt.Sprintf(`{"progress":%d,"message":"%s"}`, i, a.Nonce)))
		}
	}
	return toolpost.TextResult(a.Nonce), nil
}

// waits returns its nonce when its time is over, or its call.
func waits(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	a := read(call)
	select {
	case <-time.After(time.Duration(a.Count) * 10 * time.Millisecond):
		return toolpost.TextResult(a.Nonce), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// asks returns what its client answers to its nonce.
func (w *world) asks(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	a := read(call)
	if call.Caller == nil {
		return nil, toolpost.ErrNoCaller
	}
	params := `{"message":"` + a.Nonce + `","requestedSchema":{"type":"object","properties":{"nonce":{"type":"string"}}}}`
	answer, err := call.Caller.Request(ctx, "elicitation/create", []byte(params))
	if err != nil {
		return nil, err
	}
	if got := wire.Unquote(wire.Get(wire.Get(answer, "content"), "nonce")); got != a.Nonce {
		w.t.Errorf("the handler of %s is answered %s", a.Nonce, answer)
	}
	return toolpost.TextResult(a.Nonce), nil
}

// A call is one call of a client, and its caller.
type outgoing struct {
	w             *world
	client, nonce string
	answers       int // how its client answers questions, or how much progress there is

	mu       sync.Mutex
	progress []float64
	sdk      bool // the SDK hands progress over when it likes
	done     bool // it has returned a result
}

// Notify implements [toolpost.Caller].
func (o *outgoing) Notify(_ context.Context, method string, params json.RawMessage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var p struct {
		Progress float64
		Message  string
	}
	if err := json.Unmarshal(params, &p); err != nil || method != "notifications/progress" || p.Message != o.nonce {
		o.w.t.Errorf("%s is sent %s %s", o.nonce, method, params)
	}
	if o.done && !o.sdk {
		o.w.t.Errorf("%s is sent progress %s after its result", o.nonce, params)
	}
	o.progress = append(o.progress, p.Progress)
	return nil
}

// Request implements [toolpost.Caller].
func (o *outgoing) Request(ctx context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	nonce := wire.Unquote(wire.Get(params, "message"))
	if !strings.HasPrefix(nonce, o.client+" ") {
		o.w.t.Errorf("%s is asked %s", o.nonce, params)
	}
	switch o.answers % 4 {
	case 1:
		time.Sleep(time.Duration(o.answers) * 10 * time.Millisecond)
	case 3:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return wire.Append(nil, `"action":"accept"`, `"content":{"nonce":`+string(wire.Quote(nonce))+`}`), nil
}

func (w *world) step(s *script) {
	kind, c := s.next()%steps, (*client)(nil)
	if kind != plan && kind != change && kind != pass && kind != settle {
		c = w.clients[s.next()%len(w.clients)]
	}
	switch kind {
	case callEcho:
		w.call(c, "echo", s.next())
	case callAsk:
		answers := s.next()
		if answers%4 == 3 {
			w.clear.Store(false)
		}
		w.call(c, "ask", answers)
	case callWait:
		w.call(c, "wait", s.next())
	case leave:
		if i := s.next(); i < len(c.open) {
			c.open[i]()
			w.clear.Store(false) // the server may go on with it
		}
	case plan:
		net := w.nets[s.next()%len(w.nets)]
		net.plan(s.next()%2, mishap{byte(s.next() % mishaps), s.next() * 40})
	case change:
		w.mu.Lock()
		w.extra = s.next() % 5
		w.mu.Unlock()
		if err := w.back.Refresh(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	case pass:
		time.Sleep(time.Duration(s.next()) * 100 * time.Millisecond)
	case settle:
		synctest.Wait()
	case shut:
		c.shut.Store(true)
		w.active.Go(func() { _ = c.close() })
	}
}

// call makes a call.
func (w *world) call(c *client, tool string, count int) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	c.open = append(c.open, cancel)
	w.mu.Lock()
	w.calls++
	w.open++
	o := &outgoing{w: w, client: c.name, nonce: fmt.Sprintf("%s %d", c.name, w.calls), answers: count}
	alone, number := w.open == 1, w.calls
	w.mu.Unlock()
	w.active.Go(func() {
		defer cancel()
		raw, _ := json.Marshal(arguments{o.nonce, count})
		text, err := c.call(ctx, o, tool, raw)
		w.mu.Lock()
		w.open--
		alone = alone && w.calls == number
		w.mu.Unlock()
		if left := ctx.Err() != nil || c.shut.Load(); err == nil || !left {
			o.judge(tool, text, err, alone)
		}
	})
}

// judge looks at how a call ended. It was alone if no other call was under way.
func (o *outgoing) judge(tool, text string, err error, alone bool) {
	unused, inOrder := true, true
	for _, n := range o.w.nets {
		u, i := n.clean()
		unused, inOrder = unused && u, inOrder && i
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = err == nil
	switch {
	case err == nil && text != o.nonce:
		o.w.t.Errorf("%s got %q", o.nonce, text)
	case err != nil && unused && (tool != "ask" || o.w.clear.Load()):
		o.w.t.Errorf("%s %s: %v", tool, o.nonce, err)
	case o.sdk:
	case inOrder && !slices.IsSorted(o.progress):
		o.w.t.Errorf("%s has progress %v", o.nonce, o.progress)
	case unused && alone && err == nil && tool == "echo" && len(o.progress) != o.answers:
		o.w.t.Errorf("%s has %d of %d progress messages", o.nonce, len(o.progress), o.answers)
	}
}

// handle makes a call with one of our clients.
func (u *Upstream) handle(ctx context.Context, o *outgoing, name string, arguments []byte) (string, error) {
	tools, err := u.Tools(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(tools, func(t *toolpost.Tool) bool { return t.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no tool %s", name)
	}
	r, err := tools[i].Handler(ctx, &toolpost.Call{Session: o.client, Name: name, Arguments: arguments, Caller: o})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, p := range r.Parts() {
		text.WriteString(p.Text)
	}
	if r.IsError() {
		return "", fmt.Errorf("the tool failed: %s", &text)
	}
	return text.String(), nil
}

// end ends everything, from the clients on.
func (w *world) end() {
	ended := make(chan struct{})
	go func() {
		w.active.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Hour):
		w.t.Error("a call does not end")
	}
	for _, end := range slices.Backward(w.ends) {
		end()
	}
	time.Sleep(time.Hour) // what lasts longer is a leak
}

// A watcher fails the test for a panic that was recovered.
type watcher struct{ t *testing.T }

func (w *watcher) Enabled(context.Context, slog.Level) bool { return true }
func (w *watcher) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *watcher) WithGroup(string) slog.Handler            { return w }

// Handle implements [slog.Handler].
func (w *watcher) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "panic" {
			w.t.Errorf("%s: %v", r.Message, a.Value)
		}
		return true
	})
	return nil
}
