package mcpserver_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// Sessions that clients open and abandon hold no goroutine and little memory.
func TestIdleSessionsAreSmall(t *testing.T) {
	const count, limit = 10_000, 2 << 10
	live := fixedLive(t, "tool")
	s, src := newServer(t, &mcpserver.Options{
		Limits: mcpserver.Limits{Sessions: count + 1, ClientSessions: count + 1},
		Views:  &hooks{view: func(observe.Client) (*toolpost.Live, error) { return live, nil }},
	}, textTool("t", "x"))
	src.SetFeatures(&toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "p"}}})
	open := func() string {
		session := openSession(t, s)
		if w := handle(s, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session); w.Code != http.StatusOK {
			t.Fatalf("tools/list: %d %s", w.Code, w.Body)
		}
		return session
	}
	first := open()
	goroutines, before := runtime.NumGoroutine(), heap()
	for range count {
		open()
	}
	held := heap() - before
	if each := held / count; each > limit {
		t.Errorf("a session holds %d bytes, at most %d", each, limit)
	}
	if more := runtime.NumGoroutine() - goroutines; more > 10 {
		t.Errorf("%d sessions hold %d goroutines", count, more)
	}
	if w := handle(s, t.Context(), "POST", ping, first); w.Code != http.StatusOK {
		t.Errorf("the first session has ended: %d %s", w.Code, w.Body)
	}
	t.Logf("a session holds %d bytes", held/count)
}

// heap returns the bytes that are in use.
func heap() int64 {
	var m runtime.MemStats
	for range 2 { // the second collection frees what finalizers held
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
func (d discard) Flush()                      {}

func (d discard) SetReadDeadline(time.Time) error  { return nil }
func (d discard) SetWriteDeadline(time.Time) error { return nil }

// A call allocates little, whatever it carries. docs/evidence/performance.md has the
// figures.
func TestAllocationsOfACall(t *testing.T) {
	result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 64<<10) + `"}]}`)
	s, _ := newServer(t, nil, rawTool("t", anyObject, answer(toolpost.RawResult(result))))
	body, header := modernCall("t", `{"a":1}`, "")
	body = strings.Replace(body, `{"elicitation":{}}`, `{}`, 1)
	for _, tt := range []struct {
		name, body, header string
		most               float64
	}{
		{"stateless", body, header, 40},
		{"session", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1}}}`, openSession(t, s), 40},
	} {
		got := testing.AllocsPerRun(200, func() {
			s.ServeHTTP(discard{http.Header{}}, post(t, tt.body, tt.header))
		}) - testing.AllocsPerRun(200, func() { post(t, tt.body, tt.header) })
		if got > tt.most {
			t.Errorf("%s: a call allocates %v times, at most %v", tt.name, got, tt.most)
		}
		t.Logf("%s: a call allocates %v times", tt.name, got)
	}
}
