package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// What a server can send without end. The verbs are a number and members of the
// envelope.
var (
	floodOfRequests = map[string]string{
		"sampling":    `{"jsonrpc":"2.0","id":"q%d","method":"sampling/createMessage"%s,"params":{"messages":[],"maxTokens":1}}`,
		"elicitation": `{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create"%s,"params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`,
		"roots":       `{"jsonrpc":"2.0","id":"q%d","method":"roots/list"%s}`,
		"ping":        `{"jsonrpc":"2.0","id":"q%d","method":"ping"%s}`,
		"unknown":     `{"jsonrpc":"2.0","id":"q%d","method":"unknown"%s}`,
		"long id":     `{"jsonrpc":"2.0","id":"q%d` + strings.Repeat("x", 2<<10) + `","method":"ping"%s}`,
	}
	floodOfOthers = map[string]string{
		"progress":         `{"jsonrpc":"2.0","method":"notifications/progress"%[2]s,"params":{"progressToken":TOKEN,"progress":%[1]d}}`,
		"log":              `{"jsonrpc":"2.0","method":"notifications/message"%[2]s,"params":{"level":"error","data":%[1]d}}`,
		"long method":      `{"jsonrpc":"2.0","method":"notifications/x` + strings.Repeat("x", 2<<10) + `%[1]d"%[2]s}`,
		"list changed":     `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"%[2]s,"params":{"x":%[1]d}}`,
		"updated":          `{"jsonrpc":"2.0","method":"notifications/resources/updated"%[2]s,"params":{"uri":"x:%[1]d"}}`,
		"cancelled":        `{"jsonrpc":"2.0","method":"notifications/cancelled"%[2]s,"params":{"requestId":"q%[1]d"}}`,
		"of an extension":  `{"jsonrpc":"2.0","method":"notifications/x/y"%[2]s,"params":{"x":%[1]d}}`,
		"answer to nobody": `{"jsonrpc":"2.0","id":1%[1]d00000%[2]s,"result":{}}`,
		"second answer":    `{"jsonrpc":"2.0","id":1%[2]s,"result":{"x":%[1]d}}`,
		"error to nobody":  `{"jsonrpc":"2.0","id":null%[2]s,"error":{"code":%[1]d,"message":"m"}}`,
		"garbage":          `not JSON %d%s`,
	}
)

// A flooder is a server that floods its client when its tool is called. From then on
// it reads nothing and answers no POST.
type flooder struct {
	flood    func(token string, send func(message string) error)
	onStream bool          // over HTTP the flood comes on the stream of the session
	flooding chan struct{} // closed when the flood is over
	once     sync.Once
	end      chan struct{}
	stream   atomic.Pointer[func(string) error]
	open     atomic.Int32 // connections
	most     atomic.Int32
}

func newFlooder(flood func(token string, send func(string) error)) *flooder {
	return &flooder{flood: flood, flooding: make(chan struct{}), end: make(chan struct{})}
}

// run floods. The first call is enough: a client that connects again calls nothing.
func (f *flooder) run(m *wire.Message, send func(string) error) {
	f.once.Do(func() {
		defer close(f.flooding)
		f.flood(string(wire.Get(wire.Get(m.Params, "_meta"), "progressToken")), send)
	})
}

// answer returns the answer to a request, "" for none.
func (f *flooder) answer(m *wire.Message) string {
	result := `{}`
	switch m.Method {
	case "server/discover":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"x","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[]}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (f *flooder) serveStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	lines := bufio.NewReader(in)
	send := func(message string) error {
		_, err := io.WriteString(out, message+"\n")
		return err
	}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		m := wire.Read(line)[0]
		switch {
		case m.Method == "tools/call":
			f.run(&m, send)
			select {
			case <-f.end:
			case <-ctx.Done():
			}
			return nil
		case m.IsCall():
			if err := send(f.answer(&m)); err != nil {
				return err
			}
		}
	}
}

func (f *flooder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var mu sync.Mutex
	ended := false
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}()
	event := func(message string) error {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return io.ErrClosedPipe
		}
		_, err := fmt.Fprintf(w, "data: %s\n\n", message)
		w.(http.Flusher).Flush()
		return err
	}
	if r.Method == http.MethodGet {
		mu.Lock() // the client may answer before the endpoint is flushed
		f.stream.Store(&event)
		w.Header().Set("Content-Type", "text/event-stream")
		if r.URL.Path == "/sse" {
			fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
		}
		w.(http.Flusher).Flush()
		mu.Unlock()
		f.wait(r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	m := wire.Read(body)[0]
	overSSE := r.URL.Path == "/messages"
	switch {
	case m.Method == "":
		f.wait(r) // an answer of ours
	case !m.IsCall():
		w.WriteHeader(http.StatusAccepted)
	case m.Method != "tools/call" && !overSSE:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, f.answer(&m))
	case m.Method != "tools/call":
		w.WriteHeader(http.StatusAccepted)
		if stream := f.stream.Load(); stream != nil {
			_ = (*stream)(f.answer(&m))
		}
	case overSSE || f.onStream:
		if overSSE {
			w.WriteHeader(http.StatusAccepted)
			w.(http.Flusher).Flush()
		}
		f.run(&m, *f.stream.Load())
		f.wait(r)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		f.run(&m, event)
		f.wait(r)
	}
}

// wait keeps a request open.
func (f *flooder) wait(r *http.Request) {
	select {
	case <-f.end:
	case <-r.Context().Done():
	}
}

// count counts the connections.
func (f *flooder) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		n := f.open.Add(1)
		for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
		}
	case http.StateClosed, http.StateHijacked:
		f.open.Add(-1)
	}
}

// start connects to the flooder.
func (f *flooder) start(t *testing.T, transport Transport) *Upstream {
	cfg := &Config{Name: "flooder", ProtocolVersion: classicVersion, ConnectTimeout: time.Minute}
	if transport == Stdio {
		cfg.Command, cfg.spawn = "memory", spawn(f.serveStdio)
	} else {
		l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: f, ConnState: f.count}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { server.Close() })
		cfg.Transport, cfg.URL = transport, "http://127.0.0.1/mcp"
		if transport == SSE {
			cfg.URL = "http://127.0.0.1/sse"
		}
		cfg.Wrap = func(base *http.Transport) http.RoundTripper {
			base.DialContext = l.dial
			return base
		}
	}
	return open(t, cfg)
}

// spawn starts a process in memory whose pipes hold nothing.
func spawn(s service) func(*Config, time.Duration) (*process, error) {
	return func(_ *Config, grace time.Duration) (*process, error) {
		p := &process{cmd: &exec.Cmd{Path: "memory", Process: &os.Process{Pid: 1 << 30}}, // no such process
			grace: grace, exited: make(chan struct{}), gone: make(chan struct{})}
		stdin, in := net.Pipe()
		out, stdout := net.Pipe()
		p.stdin, p.stdout, p.state = in, memory{out}, "exited"
		go func() {
			_ = s(context.Background(), stdin, stdout)
			stdin.Close()
			stdout.Close()
			close(p.exited)
			close(p.gone)
		}()
		return p, nil
	}
}

func open(t *testing.T, cfg *Config) *Upstream {
	u, err := Start(cfg, &Options{Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return u
}

// A deafCaller takes nothing and answers nothing.
type deafCaller struct{}

func (deafCaller) Notify(ctx context.Context, _ string, _ json.RawMessage) error {
	<-ctx.Done()
	return ctx.Err()
}

func (deafCaller) Request(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// use calls the tool of u for a session.
func use(ctx context.Context, u *Upstream, caller toolpost.Caller, session string) error {
	tools, err := u.Tools(ctx)
	if err != nil {
		return err
	}
	_, err = tools[0].Handler(ctx, &toolpost.Call{Name: "t", Caller: caller, Session: session})
	return err
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// drown has a flooder flood a caller that takes nothing, and looks at what is held
// when the flood is over, and at a neighbour meanwhile.
func drown(t *testing.T, f *flooder, transport Transport, limit int64) {
	calm := open(t, &Config{Name: "calm", Command: "memory", spawn: spawn(func(_ context.Context, in io.ReadCloser, out io.WriteCloser) error {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if m := wire.Read(lines.Bytes())[0]; m.IsCall() {
				fmt.Fprintln(out, new(flooder).answer(&m))
			}
		}
		return nil
	})})
	u := f.start(t, transport)
	before, goroutines := heap(), runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = use(ctx, u, deafCaller{}, "a") })
	for over := false; !over; {
		if err := use(ctx, calm, deafCaller{}, "b"); err != nil {
			t.Errorf("the neighbour: %v", err)
		}
		select {
		case <-f.flooding:
			over = true
		default:
		}
	}
	// The last messages may still be on their way through the test's own buffers.
	var grown, more int64
	for until := time.Now().Add(time.Minute); ; {
		grown, more = int64(heap())-int64(before), int64(runtime.NumGoroutine()-goroutines)
		if grown < limit && more < 400 { // 3 for each connection in use, and both of its ends are here
			break
		}
		if time.Now().After(until) {
			t.Errorf("the heap has grown by %d KiB, and there are %d more goroutines", grown>>10, more)
			break
		}
		runtime.Gosched()
	}
	if most := f.most.Load(); most > maxPosts+8 {
		t.Errorf("%d connections", most)
	}
	cancel()
	close(f.end)
	all.Wait()
	u.Close()
	calm.Close()
}

// A server that sends without end and reads nothing neither fills the memory nor takes
// all connections, whatever it sends and wherever. Its neighbour answers meanwhile.
func TestFloods(t *testing.T) {
	for name, messages := range map[string]map[string]string{"requests": floodOfRequests, "others": floodOfOthers} {
		for _, where := range []struct {
			name      string
			transport Transport
			onStream  bool
		}{{"stdio", Stdio, false}, {"SSE", SSE, true}, {"the stream of a call", HTTP, false}, {"the stream of the session", HTTP, true}} {
			t.Run(name+" over "+where.name, func(t *testing.T) {
				f := newFlooder(func(token string, send func(string) error) {
					for i := 0; i < 20_000; {
						for _, message := range messages {
							if send(fmt.Sprintf(strings.ReplaceAll(message, "TOKEN", token), i, "")) != nil {
								return
							}
							i++
						}
					}
				})
				f.onStream = where.onStream
				drown(t, f, where.transport, 16<<20)
			})
		}
	}
}

// What is kept of a message is not the whole message that it came in.
func TestFloodsOfPadding(t *testing.T) {
	pad := `,"pad":"` + strings.Repeat("x", 400<<10) + `"`
	for _, messages := range []map[string]string{floodOfRequests, floodOfOthers} {
		for kind, message := range messages {
			t.Run(kind, func(t *testing.T) {
				drown(t, newFlooder(func(token string, send func(string) error) {
					for i := range 30 {
						if send(fmt.Sprintf(strings.ReplaceAll(message, "TOKEN", token), i, pad)) != nil {
							return
						}
					}
				}), Stdio, 6<<20)
			})
		}
	}
}
