package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if play() {
		return
	}
	debug.SetGCPercent(400) // few of the many small values live: collecting them was a third of the time
	// Those that are parallel wait, so more of them run at a time than there are processors,
	// unless the command line says how many.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// A server under test: what Start gave, and a channel that tells of changes.
type server struct {
	*upstream.Upstream
	changed chan struct{}
	uris    chan string
}

func start(t *testing.T, cfg *upstream.Config) *server {
	t.Helper()
	s := &server{changed: make(chan struct{}, 1), uris: make(chan string, 100)}
	if cfg.Name == "" {
		cfg.Name = "srv"
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = time.Minute
	}
	u, err := upstream.Start(cfg, &upstream.Options{
		Backoff: 10 * time.Millisecond, Patience: 30 * time.Second, Grace: 150 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.watch(t, u)
}

// startFailing starts a server that does not become ready. One whose time is over
// before it has written its words gets more time.
func startFailing(t *testing.T, cfg *upstream.Config, words string) (*server, error) {
	t.Helper()
	for {
		s := start(t, cfg)
		err := s.Ready(t.Context())
		if cfg.ConnectTimeout > time.Minute || !strings.Contains(fmt.Sprint(err), "did not answer in time") || strings.Contains(err.Error(), words) {
			return s, err
		}
		s.Close()
		cfg.ConnectTimeout *= 2
	}
}

// watch makes s the server that u is connected to.
func (s *server) watch(t *testing.T, u *upstream.Upstream) *server {
	s.Upstream = u
	u.Watch(func(e toolpost.Event) {
		if e.Resource != "" {
			s.uris <- e.Resource
			return
		}
		select {
		case s.changed <- struct{}{}:
		default:
		}
	})
	t.Cleanup(func() { u.Close() })
	return s
}

// child returns the configuration of an odd server.
func child(t *testing.T, part string, env ...string) *upstream.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := &upstream.Config{Command: self, Env: map[string]string{"GORACE": "atexit_sleep_ms=0", partVariable: part, "ONCE": filepath.Join(t.TempDir(), "once")}}
	for i := 0; i < len(env); i += 2 {
		cfg.Env[env[i]] = env[i+1]
	}
	return cfg
}

func (s *server) ready(t *testing.T) *server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// until waits for a condition that a change makes true.
func (s *server) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-s.changed:
		case <-limit:
			t.Fatalf("waited in vain until %s; status %+v", what, s.Status())
		}
	}
}

func (s *server) names(t *testing.T) string {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func (s *server) call(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	keep := hidden.Keep(ctx) // a layer over the server has it, inside the call
	set, err := toolpost.NewSet(ctx, toolpost.Wrap(s, func(next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return next(hidden.WithKeep(ctx, keep), call)
		}
	}))
	if err != nil {
		return nil, err
	}
	return set.Call(ctx, call)
}

// text calls a tool and returns its text, with "error: " before a failure.
func (s *server) text(t *testing.T, name, arguments string, caller toolpost.Caller) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := s.call(ctx, &toolpost.Call{Name: name, Arguments: json.RawMessage(arguments), Caller: caller})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	text, _ := r.FirstText()
	if r.IsError() {
		return "error: " + text
	}
	return text
}

// A recorder is a caller that notes what it hears and answers what it is asked.
type recorder struct {
	mu     sync.Mutex
	heard  []string
	told   chan struct{} // one value for the first that was heard
	answer func(method string, params json.RawMessage) (json.RawMessage, error)
}

func newRecorder() *recorder { return &recorder{told: make(chan struct{}, 1)} }

func (r *recorder) Notify(_ context.Context, method string, params json.RawMessage) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, strings.TrimPrefix(method, "notifications/")+string(params))
	select {
	case r.told <- struct{}{}:
	default:
	}
	return nil
}

func (r *recorder) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.answer == nil {
		return nil, toolpost.ErrNoCaller
	}
	return r.answer(method, params)
}

func TestStartRefuses(t *testing.T) {
	tests := map[string]upstream.Config{
		"neither a command nor a url": {},
		"only one of them":            {Command: "x", URL: "http://127.0.0.1"},
		"is not an address":           {URL: "127.0.0.1:8000"},
		`protocol version "2020"`:     {Command: "x", ProtocolVersion: "2020"},
		`transport "stdio"`:           {URL: "http://127.0.0.1", Transport: upstream.Stdio},
		`transport "sse"`:             {Command: "x", Transport: upstream.SSE},
	}
	for want, cfg := range tests {
		cfg.Name = "srv"
		_, err := upstream.Start(&cfg, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"srv"`) {
			t.Errorf("%+v: got %v, want %q", cfg, err, want)
		}
	}
}

// Handshakes and output that are out of order are no reason to do without a server.
func TestOddServersWork(t *testing.T) {
	for _, part := range []string{"banner", "indented", "quiet-on-probe", "hang-on-probe", "exit-on-probe", "picky"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			cfg := child(t, part)
			cfg.ProbeTimeout = 300 * time.Millisecond
			s := start(t, cfg).ready(t)
			if got := s.text(t, "t", `{}`, nil); got != "ok" {
				t.Errorf("got %q", got)
			}
			if v := s.Status(); v.State != upstream.Ready || v.Version != "2025-06-18" || v.Server != "odd 1" || v.Tools != 1 || v.Transport != upstream.Stdio {
				t.Errorf("status %+v", v)
			}
		})
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	self, _ := os.Executable()
	notExecutable := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(notExecutable, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangs := child(t, "hang")
	hangs.ConnectTimeout, hangs.ProbeTimeout = 500*time.Millisecond, 200*time.Millisecond
	tests := []struct {
		name string
		cfg  *upstream.Config
		want []string
	}{
		{"exits", child(t, "exit", "SECRET", "s3cretkey"), []string{"exit status 3", "DATABASE_URL is not set, key [hidden]"}},
		{"hangs", hangs, []string{"did not answer in time", "waiting for a lock"}},
		{"no such command", &upstream.Config{Command: "toolpost-no-such-command"}, []string{`command "toolpost-no-such-command" is not found; install it`}},
		{"no such file", &upstream.Config{Command: "./no/such/file"}, []string{"no/such/file", "check its command"}},
		{"not executable", &upstream.Config{Command: notExecutable}, []string{"permission denied", "make its command executable"}},
		{"a folder", &upstream.Config{Command: filepath.Dir(notExecutable)}, []string{"is a directory; give a program"}},
		{"no such folder", &upstream.Config{Command: self, Dir: "/no/such/folder"}, []string{"no/such/folder", "its folder"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := startFailing(t, test.cfg, test.want[len(test.want)-1])
			if err == nil {
				t.Fatal("it is ready")
			}
			for _, want := range append(test.want, `server "srv"`) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "s3cretkey") {
				t.Errorf("the error tells a secret: %v", err)
			}
			s.until(t, "it has failed", func() bool { return s.Status().State == upstream.Failed })
			if v := s.Status(); v.Err == nil || v.Retry.IsZero() || s.names(t) != "" {
				t.Errorf("status %+v", v)
			}
		})
	}
}

// What servers quote of their address and arguments is told without secrets.
func TestErrorsHideSecrets(t *testing.T) {
	const secret = "SECRETabcdef0123456789ABCDEF"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "<pre>Cannot %s %s</pre>", r.Method, r.URL.Path)
	}))
	defer web.Close()
	args := child(t, "args")
	args.Args = []string{"--api-key=" + secret, "--token", secret, "Authorization: Bearer " + secret}
	for want, cfg := range map[string]*upstream.Config{
		"Cannot POST /s/[hidden]/mcp": {URL: web.URL + "/s/" + secret + "/mcp"},
		"invalid token":               args,
	} {
		logged := make(logChannel, 100)
		u, err := upstream.Start(cfg, &upstream.Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		err = u.Ready(t.Context())
		text := fmt.Sprint(err, <-logged)
		if strings.Contains(text, secret) || strings.Count(text, want) != 2 {
			t.Errorf("told %s", text)
		}
	}
}

// Definitions and results are the bytes that the server wrote.
func TestBytesAreKept(t *testing.T) {
	const (
		schema = `{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"const":1.0,"x-odd":null}},"required":[]}`
		tool   = `{"description":"","icons":[{"src":"x"}],"name":"t","inputSchema":` + schema + `,"execution":{"taskSupport":"optional"},"annotations":{"readOnlyHint":false,"odd":1},"_meta":{"n":9007199254740993}}`
		result = `{"content":[{"type":"video","data":"!!","n":9007199254740993},{"type":"text","text":""}],"isError":false,"structuredContent":null,"odd":{"b":1,"a":2.50},"_meta":{"k":12345678901234567890}}`
	)
	s := start(t, child(t, "raw", "TOOLS", `"tools":[`+tool+`,{"name":"params","inputSchema":{"type":"object"}}]`, "RESULT", result)).ready(t)
	tools, _ := s.Tools(t.Context())
	if got := string(tools[0].Input.Raw()); got != schema {
		t.Errorf("schema\n%s\nwant\n%s", got, schema)
	}
	if got, _ := tools[0].Definition.MarshalJSON(); string(got) != tool {
		t.Errorf("definition\n%s\nwant\n%s", got, tool)
	}
	r, err := s.call(t.Context(), &toolpost.Call{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.MarshalJSON(); string(got) != result {
		t.Errorf("result\n%s\nwant\n%s", got, result)
	}
	r, err = s.call(t.Context(), &toolpost.Call{
		Name:      "params",
		Arguments: json.RawMessage("{\"n\":9007199254740993,\r\n\"s\":\"<&>\"}"), // line breaks would end the message
		Params: json.RawMessage(`{"name":"their__params","odd":[1.0],"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","k":1e400},` +
			`"arguments":{"old":1},"inputResponses":{},"requestState":"x"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := r.FirstText()
	if want := `{"name":"params","odd":[1.0],"_meta":{"k":1e400},"arguments":{"n":9007199254740993,  "s":"<&>"}}`; got != want {
		t.Errorf("params\n%s\nwant\n%s", got, want)
	}
}

func TestPoisonousTools(t *testing.T) {
	s := start(t, child(t, "raw", "RESULT", "{}", "TOOLS", strings.ReplaceAll(`"tools":[
		{"inputSchema":{"type":"object"}}, null, 7,
		{"name":"none"}, {"name":"null","inputSchema":null}, {"name":"list","inputSchema":[]},
		{"name":"text","inputSchema":{"type":"string"}}, {"name":"wrong","inputSchema":{"type":"objekt"}},
		{"name":"good","inputSchema":{}, "annotations":7, "title":7, "_meta":7, "outputSchema":7},
		{"name":"good","inputSchema":{"type":"object"}}]`, "\n", ""))).ready(t)
	if got := s.names(t); got != "good" {
		t.Errorf("tools %q", got)
	}
	got := s.Status().Skipped
	want := []string{
		"tool 1 of 10 is left out: it has no name", "tool 2 of 10", "tool 3 of 10",
		"none: left out: its inputSchema is missing, not a JSON object", "null: left out", "list: left out",
		`text: left out: its inputSchema is of type "string", want "object"`, `wrong: left out: its inputSchema is of type "objekt"`,
		"good: its outputSchema is left out", "good: the server lists this name more than once",
	}
	if len(got) != len(want) {
		t.Fatalf("skipped %q", got)
	}
	for i, f := range got {
		if text := strings.TrimPrefix(f.Tool+": "+f.Message, ": "); !strings.HasPrefix(text, want[i]) {
			t.Errorf("skipped %q, want %q", text, want[i])
		}
	}
}

func TestCursorLoop(t *testing.T) {
	s := start(t, child(t, "loop")).ready(t)
	if skipped := s.Status().Skipped; s.names(t) != "t" || len(skipped) == 0 || !strings.Contains(skipped[0].Message, `repeats the cursor "again"`) {
		t.Errorf("tools %q, skipped %q", s.names(t), skipped)
	}
}

func TestBigResult(t *testing.T) {
	s := start(t, child(t, "big")).ready(t)
	if got := s.text(t, "t", "", nil); len(got) != 5<<20 {
		t.Errorf("got %d bytes", len(got))
	}
}

// A message that is too long fails the call that it answers, and no other.
func TestLongMessage(t *testing.T) {
	cfg := child(t, "long")
	cfg.MaxMessage = 64 << 10
	s := start(t, cfg).ready(t)
	for _, as := range []string{"head", "tail", "lines", "told"} {
		waiting := make(chan string)
		rec := newRecorder()
		go func() { waiting <- s.text(t, "t", `{"as":"wait"}`, rec) }()
		<-rec.told
		want := "fine"
		if as != "told" {
			want = "more than 65536 bytes; raise maxMessage"
		}
		if got := s.text(t, "t", `{"as":"`+as+`"}`, nil); !strings.Contains(got, want) {
			t.Errorf("%s: got %.300q", as, got)
		}
		if got := <-waiting; got != "waited" {
			t.Errorf("%s: the other call got %q", as, got)
		}
	}
}

// Notifications of a call arrive in order and before its result. What the
// server sends after the result is dropped.
func TestProgress(t *testing.T) {
	s := start(t, child(t, "progress")).ready(t)
	var all []*recorder
	for range 5 {
		r := newRecorder()
		all = append(all, r)
		if token := s.text(t, "t", "", r); token == "" {
			t.Fatal("no progress token was sent")
		}
		if len(r.heard) != 40 {
			t.Fatalf("heard %d, want 40", len(r.heard))
		}
		for i, got := range r.heard {
			n, _ := json.Marshal(i / 2)
			want := `progress{"progress":` + string(n) + `,"x":9007199254740993}`
			if i%2 == 1 {
				want = `message{"level":"info","data":` + string(n) + `}`
			}
			if got != want {
				t.Fatalf("heard %s, want %s", got, want)
			}
		}
	}
	if token := s.text(t, "t", "", nil); token != "" {
		t.Errorf("token %s was sent though nobody listens", token)
	}
	for _, r := range all {
		r.mu.Lock()
		if len(r.heard) != 40 {
			t.Errorf("after the result came %s", r.heard[40:])
		}
		r.mu.Unlock()
	}
}

func TestQuestions(t *testing.T) {
	s := start(t, child(t, "ask")).ready(t)
	r := newRecorder()
	r.answer = func(method string, params json.RawMessage) (json.RawMessage, error) {
		if want := `{"message":"?","requestedSchema":{"type":"object","x-odd":9007199254740993}}`; method != "elicitation/create" || string(params) != want {
			t.Errorf("asked %s %s", method, params)
		}
		return json.RawMessage(`{"action":"accept","content":{"n":9007199254740993}}`), nil
	}
	if got, want := s.text(t, "t", "", r), `{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"n":9007199254740993}}}`; got != want {
		t.Errorf("got %s", got)
	}
	r.answer = func(string, json.RawMessage) (json.RawMessage, error) {
		return nil, &toolpost.ProtocolError{Code: -1, Message: "no", Data: []byte(`{"n":1}`)}
	}
	if got := s.text(t, "t", "", r); !strings.Contains(got, `"error":{"code":-1,"message":"no","data":{"n":1}}`) {
		t.Errorf("got %s", got)
	}
	if got := s.text(t, "t", "", nil); !strings.Contains(got, `"code":-32600`) || !strings.Contains(got, "cannot answer") {
		t.Errorf("got %s", got)
	}
	if got := s.text(t, "t", `{"back":1}`, newRecorder()); got != "taken back" {
		t.Errorf("got %s", got)
	}
}

// What is told before a question arrives before it.
func TestToldBeforeAsked(t *testing.T) {
	s := start(t, child(t, "tell")).ready(t)
	for range 50 {
		r := newRecorder()
		r.answer = func(method string, _ json.RawMessage) (json.RawMessage, error) {
			_ = r.Notify(t.Context(), method, nil)
			return json.RawMessage(`{"action":"accept"}`), nil
		}
		s.text(t, "t", "", r)
		if got, want := strings.Join(r.heard, " "), `progress{"progress":1} message{"level":"info","data":2} elicitation/create`; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestQuestionsOutsideOfCalls(t *testing.T) {
	s := start(t, child(t, "roots")).ready(t)
	for got := ""; got != `{"roots":[]}`; got = s.text(t, "t", "", nil) {
		if got != "" {
			t.Fatalf("got %q", got)
		}
	}
	s = start(t, child(t, "storm")).ready(t)
	for range 2 {
		if got := s.text(t, "t", "", newRecorder()); got != "calm" {
			t.Errorf("got %q", got)
		}
	}
}

// A call that is cancelled as it ends has one outcome.
func TestCancelRaces(t *testing.T) {
	s := start(t, child(t, "banner")).ready(t)
	var all sync.WaitGroup
	for i := range 500 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*20)*time.Microsecond)
			defer cancel()
			r, err := s.call(ctx, &toolpost.Call{Name: "t", Caller: newRecorder()})
			if (r == nil) == (err == nil) || err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v and %v", r, err)
			}
		})
	}
	all.Wait()
	if got := s.text(t, "t", "", nil); got != "ok" || s.Status().State != upstream.Ready {
		t.Errorf("got %q, status %+v", got, s.Status())
	}
}

// Close ends the calls under way.
func TestCloseDuringCalls(t *testing.T) {
	for _, part := range []string{"deaf", "cancel"} {
		s := start(t, child(t, part)).ready(t)
		r := newRecorder()
		result := make(chan string, 1)
		go func() { result <- s.text(t, "t", "", r) }()
		if part == "cancel" {
			<-r.told // the call is surely under way
		}
		s.Close()
		if got := <-result; !strings.Contains(got, `server "srv": it was closed`) {
			t.Errorf("got %q", got)
		}
		if got := s.text(t, "t", "", r); !strings.Contains(got, "it was closed") {
			t.Errorf("got %q", got)
		}
	}
}

func TestCancellation(t *testing.T) {
	s := start(t, child(t, "cancel")).ready(t)
	r := newRecorder()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-r.told; cancel() }()
	if _, err := s.call(ctx, &toolpost.Call{Name: "t", Caller: r}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	for s.text(t, "t", "", nil) != "cancelled" { // the notification is on its way
		time.Sleep(time.Millisecond)
	}
}

func TestCallTimeout(t *testing.T) {
	cfg := child(t, "deaf")
	cfg.CallTimeout = 50 * time.Millisecond
	s := start(t, cfg).ready(t)
	if got, want := s.text(t, "t", "", nil), `error: server "srv" did not answer tool t within 50ms`; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	}
	if got := s.Status().State; got != upstream.Ready {
		t.Errorf("state %s", got)
	}
	// A server that does not read fills the pipe; a call must still end.
	if got := s.text(t, "t", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`, nil); !strings.HasPrefix(got, "error: ") {
		t.Errorf("got %q", got)
	}
}

func TestAnswers(t *testing.T) {
	s := start(t, child(t, "refuse")).ready(t)
	var p *toolpost.ProtocolError
	if _, err := s.call(t.Context(), &toolpost.Call{Name: "t"}); !errors.As(err, &p) || p.Code != -32004 || p.Message != "no" || string(p.Data) != `{"n":9007199254740993}` {
		t.Errorf("got %#v", err)
	}
	if got := s.text(t, "t", `[1]`, nil); got != "error: the arguments of tool t are not a JSON object; call it again with a JSON object" {
		t.Errorf("got %s", got)
	}
	if got := s.text(t, "t", `{} {}`, nil); !strings.HasPrefix(got, "error: the arguments of tool t") {
		t.Errorf("got %s", got)
	}
	s = start(t, child(t, "nothing")).ready(t)
	if got := s.text(t, "t", "", nil); !strings.Contains(got, "a result that is not an object") {
		t.Errorf("got %s", got)
	}
	if got := s.Status().State; got != upstream.Ready {
		t.Errorf("state %s", got)
	}
}

func TestListChanged(t *testing.T) {
	t.Parallel()
	s := start(t, child(t, "grow")).ready(t)
	before, _ := s.Tools(t.Context())
	s.text(t, "t", "", nil)
	s.until(t, "there is a new tool", func() bool { return s.names(t) == "t t1" && s.Status().Tools == 2 })
	s.text(t, "t1", "", nil)
	s.until(t, "there is another", func() bool { return s.names(t) == "t t1 t2" })
	if before[0].Name != "t" {
		t.Errorf("an old list changed")
	}
	// The next change proves that the one before, which changed nothing, was told to nobody.
	for len(s.changed) > 0 {
		<-s.changed
	}
	now, _ := s.Tools(t.Context())
	s.text(t, "t", `{"same":true}`, nil)
	s.text(t, "t", ``, nil)
	s.until(t, "there is one more", func() bool { return s.names(t) != "t t1 t2" })
	if later, _ := s.Tools(t.Context()); len(later) != len(now)+1 {
		t.Errorf("tools %q", s.names(t))
	}
}

// A server that tells of changes all the time is listed about once a second.
func TestFloodOfChanges(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := start(t, child(t, "flood")).ready(t)
	s.until(t, "it is listed four more times", func() bool { return s.names(t) == "t5" })
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("listed four times in %v", took)
	}
}

// What a server that is away says again and again is logged once.
func TestAwayIsLoggedOnce(t *testing.T) {
	t.Parallel()
	answer := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	var h switchable
	h.set(answer(404))
	logged := make(logChannel, 1000)
	u, err := upstream.Start(&upstream.Config{Name: "srv", URL: serve(t, &h).URL},
		&upstream.Options{Backoff: time.Millisecond, Patience: time.Millisecond, Logger: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	// next wants a line that holds all of want, after any number of lines that hold all of before.
	next := func(want string, before string) {
		t.Helper()
		limit := time.After(time.Minute)
		for {
			var line string
			select {
			case line = <-logged:
			case <-limit:
				t.Fatalf("waited in vain for %s", want)
			}
			switch {
			case !strings.Contains(line, "server is ready") && !strings.Contains(line, "server unavailable"):
			case holds(line, want):
				return
			case before == "" || !holds(line, before):
				t.Fatalf("got %s, want %s", line, want)
			}
		}
	}
	next("WARN unavailable 404", "")
	next("DEBUG unavailable 404", "")
	h.set(answer(500))
	next("WARN unavailable 500", "DEBUG unavailable 404")
	next("DEBUG unavailable 500", "")
	h.set(streamableHandler(t, sdkServer(t.Context()), false))
	next("INFO ready", "DEBUG unavailable 500")
	h.set(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" {
			answer(404).ServeHTTP(w, r)
			return
		}
		answer(500).ServeHTTP(w, r)
	}))
	_ = u.Features().Subscribe(t.Context(), "test://r", true) // finds that the session is lost
	next("WARN unavailable 500", "WARN know our session")
}

func holds(line, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

// A logChannel passes on what is logged, line by line.
type logChannel chan string

func (c logChannel) Write(line []byte) (int, error) {
	c <- string(line)
	return len(line), nil
}

func TestEnvironment(t *testing.T) {
	t.Setenv("TOOLPOST_TEST_SECRET", "do not pass")
	t.Setenv("LD_PRELOAD", "")
	t.Setenv("LC_ALL", "C")
	s := start(t, child(t, "env", "OWN", "given")).ready(t)
	got := "\n" + s.text(t, "t", "", nil) + "\n"
	for _, want := range []string{"\nOWN=given\n", "\nLC_ALL=C\n", "\nPATH="} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	for _, name := range []string{"TOOLPOST_TEST_SECRET", "LD_PRELOAD"} {
		if strings.Contains(got, "\n"+name) {
			t.Errorf("%s is passed", name)
		}
	}
}
