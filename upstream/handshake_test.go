package upstream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A server that refuses a version once, and names it as supported, is asked for
// it again and not initialized (MCP 2026-07-28, Versioning).
func TestVersionIsAskedForAgain(t *testing.T) {
	var discovered, initialized atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case m.Method == "initialize":
			initialized.Add(1)
			w.WriteHeader(http.StatusBadRequest)
		case m.Method == "server/discover" && discovered.Add(1) == 1:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"x"}}}`, m.ID)
		case m.Method == "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, m.ID)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, m.ID)
		}
	}))
	defer h.Close()
	u, err := upstream.Start(&upstream.Config{Name: "s", URL: h.URL, ProtocolVersion: "2026-07-28"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Ready(t.Context()); err != nil || initialized.Load() > 0 {
		t.Errorf("%v, and %d requests to initialize", err, initialized.Load())
	}
}

// A server that refuses to be initialized with our version is initialized with the
// newest of those that it names, if one is ours; otherwise the error names them.
func TestRefusedVersionOfInitialize(t *testing.T) {
	for name, test := range map[string]struct {
		status    int
		code      int
		supported string
		pinned    string
		want      string // asked for
		err       string
	}{
		"older":           {200, -32602, `["1999-01-01","2024-11-05","2025-03-26"]`, "", "2025-11-25 2025-03-26", ""},
		"bad request":     {400, -32602, `["2024-11-05"]`, "", "2025-11-25 2024-11-05", ""},
		"by the new code": {400, -32022, `["2025-06-18"]`, "", "2025-11-25 2025-06-18", ""},
		"pinned":          {200, -32602, `["2024-11-05"]`, "2025-06-18", "2025-06-18 2024-11-05", ""},
		"unknown":         {200, -32602, `["1999-01-01"]`, "", "2025-11-25", "1999-01-01"},
		"the same":        {200, -32602, `["2025-11-25"]`, "", "2025-11-25", "no"},
		"not a list":      {200, -32602, `7`, "", "2025-11-25", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var m struct {
					ID     json.RawMessage
					Method string
					Params struct{ ProtocolVersion string }
				}
				_ = json.Unmarshal(body, &m)
				w.Header().Set("Content-Type", "application/json")
				version := m.Params.ProtocolVersion
				switch {
				case m.Method == "initialize":
					if len(asked) == 0 || asked[len(asked)-1] != version { // the first may be sent again
						asked = append(asked, version)
					}
					if len(asked) == 1 {
						w.WriteHeader(test.status)
						fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no","data":{"supported":%s}}}`, m.ID, test.code, test.supported)
						return
					}
					w.Header().Set("Mcp-Session-Id", "s")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID, version)
				case m.Method == "server/discover":
					w.WriteHeader(http.StatusNotFound)
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
				default:
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, m.ID)
				}
			}))
			defer h.Close()
			u, err := upstream.Start(&upstream.Config{Name: "s", URL: h.URL, ProtocolVersion: test.pinned, Transport: upstream.HTTP}, &upstream.Options{Backoff: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			err = u.Ready(t.Context())
			if got := fmt.Sprint(err); test.err == "" && err != nil || !strings.Contains(got, test.err) {
				t.Errorf("got error %s, want %q", got, test.err)
			}
			if got := strings.Join(asked, " "); got != test.want {
				t.Errorf("asked for %s, want %s", got, test.want)
			}
		})
	}
}

// A server that never answers logging/setLevel is ready all the same.
func TestSilentLogLevel(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	s := start(t, &upstream.Config{ConnectTimeout: time.Minute, URL: newSilent(t, func(_ *http.Request, m *message) bool {
		if m.Method == "logging/setLevel" {
			asked.Store(true)
		}
		return m.Method == "logging/setLevel" || m.Method == "notifications/cancelled"
	}, streamableHandler(t, sdkServer(t.Context()), false))}).ready(t)
	if !asked.Load() {
		t.Error("no log level was set")
	}
	closes(t, s)
}

// A server that does not answer server/discover over HTTP is initialized after
// the time limit for that.
func TestDiscoverHasALimit(t *testing.T) {
	t.Parallel()
	url := newSilent(t, func(_ *http.Request, m *message) bool { return m.Method == "server/discover" },
		streamableHandler(t, sdkServer(t.Context()), false))
	s := start(t, &upstream.Config{URL: url, Transport: upstream.HTTP, ProtocolVersion: "2026-07-28", ProbeTimeout: 50 * time.Millisecond, ConnectTimeout: time.Minute}).ready(t)
	if got := s.Status().Version; got != "2025-11-25" {
		t.Errorf("version %s", got)
	}
}

// A transport changes the responses of base.
type transport func(req *http.Request, base *http.Transport) (*http.Response, error)

func (f transport) wrap(base *http.Transport) http.RoundTripper { return wrapped{f, base} }

type wrapped struct {
	f    transport
	base *http.Transport
}

func (w wrapped) RoundTrip(r *http.Request) (*http.Response, error) { return w.f(r, w.base) }

// Nothing is compressed on loopback and without TLS, as in a local network, where
// that costs more than it saves.
func TestCompression(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com/mcp": false, "http://example.com/mcp": true, "https://localhost/mcp": true, "http://localhost/mcp": true, "http://127.0.0.2:1/mcp": true, "http://[::1]:1/mcp": true,
	} {
		refuse := transport(func(_ *http.Request, base *http.Transport) (*http.Response, error) {
			if base.DisableCompression != want {
				t.Errorf("%s: compression disabled is %v, want %v", address, !want, want)
			}
			return nil, errors.New("not sent")
		})
		s := start(t, &upstream.Config{URL: address, Wrap: refuse.wrap})
		if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "not sent") {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// A server that wants a login, and refuses versions with sessions for a reason of its
// own, is reported as one that wants a login.
func TestLoginBeforeAnotherVersion(t *testing.T) {
	want := &upstream.LoginError{Command: "toolpost login s"}
	s := start(t, &upstream.Config{URL: "http://127.0.0.1:1/mcp", ProtocolVersion: "2026-07-28", Wrap: transport(func(r *http.Request, _ *http.Transport) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(body), "server/discover") {
			return nil, want
		}
		return &http.Response{StatusCode: http.StatusBadRequest, Status: "400 Bad Request", Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}).wrap})
	var got *upstream.LoginError
	if err := s.Ready(t.Context()); !errors.As(err, &got) || got.Command != want.Command {
		t.Errorf("got %v", err)
	}
}

// Over HTTP the answer of a call is read on the goroutine of the call, as JSON
// and as events, and from a connection without goroutines of its own.
func TestAnswersAreReadByTheCaller(t *testing.T) {
	for _, events := range []bool{false, true} {
		cfg := answering(t, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`, events)
		var reads stacks
		cfg.Wrap = transport(func(req *http.Request, base *http.Transport) (*http.Response, error) {
			resp, err := base.RoundTrip(req)
			if err == nil {
				if kind := fmt.Sprintf("%T", resp.Body); kind != "*httpconn.body" && resp.Body != http.NoBody {
					t.Errorf("a response is read by %s", kind)
				}
				resp.Body = &noting{resp.Body, &reads}
			}
			return resp, err
		}).wrap
		s := start(t, cfg).ready(t)
		before := reads.of("TestAnswersAreReadByTheCaller")
		if _, err := s.call(t.Context(), &toolpost.Call{Name: "t"}); err != nil {
			t.Fatal(err)
		}
		if before != 0 || reads.of("TestAnswersAreReadByTheCaller") == 0 {
			t.Errorf("events %v: the goroutine of the test read %d times before its call, %d after it", events, before, reads.of("TestAnswersAreReadByTheCaller"))
		}
	}
}

// stacks are those of the goroutines that read responses.
type stacks struct {
	mu  sync.Mutex
	all []string
}

// of returns how many of the goroutines run a function.
func (s *stacks) of(function string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stack := range s.all {
		calls, _, _ := strings.Cut(stack, "created by")
		if strings.Contains(calls, function) {
			n++
		}
	}
	return n
}

// A noting body notes who reads it.
type noting struct {
	io.ReadCloser
	stacks *stacks
}

func (n *noting) Read(b []byte) (int, error) {
	n.stacks.mu.Lock()
	n.stacks.all = append(n.stacks.all, string(debug.Stack()))
	n.stacks.mu.Unlock()
	return n.ReadCloser.Read(b)
}
