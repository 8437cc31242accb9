package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

var sizes = []struct {
	name  string
	bytes int
}{{"1KB", 1 << 10}, {"64KB", 64 << 10}, {"1MB", 1 << 20}}

// serve serves ts over HTTP and returns the address of its MCP endpoint.
func serve(b testing.TB, live *toolpost.Live) string {
	b.Helper()
	s := mcpserver.New(live, &mcpserver.Options{
		Logger: slog.New(slog.DiscardHandler), MaxSessions: 1 << 20, MaxClientSessions: 1 << 20,
	})
	h := httptest.NewServer(s.Handler())
	b.Cleanup(func() {
		s.Close()
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL + "/mcp"
}

func source(b testing.TB, ts toolpost.Toolset) string {
	b.Helper()
	live, err := toolpost.NewLive(b.Context(), ts)
	if err != nil {
		b.Fatal(err)
	}
	return serve(b, live)
}

func texts() toolpost.Tools {
	var ts toolpost.Tools
	for _, size := range sizes {
		text := strings.Repeat("A line of a log, as long as such lines are.\n", size.bytes/44+1)[:size.bytes]
		ts = append(ts, toolpost.New("text"+size.name, "Give text.", func(context.Context, struct{}) (string, error) { return text, nil }, nil))
	}
	return ts
}

func throughGateway(b testing.TB, url string) string {
	b.Helper()
	none := ""
	g, err := gateway.Open(b.Context(), &gateway.Config{Servers: []gateway.Server{{
		Config: upstream.Config{Name: "source", URL: url, Transport: upstream.HTTP}, Prefix: &none,
	}}}, &gateway.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { g.Close() })
	if err := g.Ready(b.Context()); err != nil {
		b.Fatal(err)
	}
	return serve(b, g.Live())
}

func throughProxy(b testing.TB, target string) string {
	b.Helper()
	u, err := url.Parse(target)
	if err != nil {
		b.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: u.Scheme, Host: u.Host})
	p.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without it, net/http may close the request's body while it is still being forwarded.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			b.Error(err)
		}
		p.ServeHTTP(w, r)
	}))
	b.Cleanup(h.Close)
	return h.URL + u.Path
}

// BenchmarkHop compares calls made directly, through the gateway, and through
// a bare reverse proxy, which is the floor of any hop.
func BenchmarkHop(b *testing.B) {
	direct := source(b, texts())
	ways := []struct{ name, url string }{
		{"direct", direct}, {"proxy", throughProxy(b, direct)}, {"gateway", throughGateway(b, direct)},
	}
	for _, size := range sizes {
		for _, clients := range []int{1, 32} {
			for _, version := range []string{sessions, stateless} {
				for _, way := range ways {
					b.Run(fmt.Sprintf("%s/clients=%d/%s/%s", size.name, clients, version, way.name), func(b *testing.B) {
						load(b, way.url, version, "text"+size.name, clients)
					})
				}
			}
		}
	}
}

// BenchmarkList lists 1,000 tools.
func BenchmarkList(b *testing.B) {
	type input struct {
		A, B, C string
		Limit   int  `json:"limit,omitempty" jsonschema:"most rows to return"`
		All     bool `json:"all,omitempty"`
	}
	ts := make(toolpost.Tools, 1000)
	for i := range ts {
		ts[i] = toolpost.New(fmt.Sprintf("tool%03d", i), "Do one of a thousand things, told in a sentence of some length.",
			func(context.Context, input) (string, error) { return "", nil }, nil)
	}
	c := dial(b, source(b, ts), sessions)
	size := 0
	for b.Loop() {
		_, data := c.post(b, "", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
		size = len(data)
	}
	b.ReportMetric(float64(size), "bytes")
}

// BenchmarkIdleSession reports the memory that one more idle session holds.
func BenchmarkIdleSession(b *testing.B) {
	url := source(b, texts())
	dial(b, url, sessions)
	before := live()
	for b.Loop() {
		dial(b, url, sessions).http.CloseIdleConnections()
	}
	b.ReportMetric(float64(live()-before)/float64(b.N), "B/session")
	b.ReportMetric(float64(before), "B/at-rest")
}

// live returns the bytes of heap and stacks in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
