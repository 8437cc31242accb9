package upstream_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// A lateServer is a streamServer that cannot be reached for a while.
type lateServer struct {
	streamServer
	away time.Duration
	how  func() (*http.Response, error)
}

func (s *lateServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if time.Since(s.began) < s.away {
		return s.how()
	}
	return s.streamServer.RoundTrip(r)
}

// With Starting, a server that is not there yet is waited for as one that starts, and
// tried again each half second. Other failures, and those after that time, count.
func TestStarting(t *testing.T) {
	refused := func() (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	status := func(status int, retryAfter ...string) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": retryAfter}, Body: io.NopCloser(strings.NewReader("x"))}, nil
		}
	}
	for name, tt := range map[string]struct {
		how            func() (*http.Response, error)
		starting, away time.Duration
		transport      upstream.Transport
		most           time.Duration // until Ready returns
		ready          bool
	}{
		"refused":               {refused, 20 * time.Second, 15 * time.Second, upstream.HTTP, 16 * time.Second, true},
		"refused, by trying":    {refused, 20 * time.Second, 15 * time.Second, "", 16 * time.Second, true},
		"no such host yet":      {func() (*http.Response, error) { return nil, &net.DNSError{Name: "a", IsNotFound: true} }, 20 * time.Second, 15 * time.Second, upstream.HTTP, 16 * time.Second, true},
		"reset":                 {func() (*http.Response, error) { return nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET} }, 20 * time.Second, 3 * time.Second, upstream.HTTP, time.Millisecond, false},
		"closed":                {func() (*http.Response, error) { return nil, io.EOF }, 20 * time.Second, 3 * time.Second, upstream.HTTP, time.Millisecond, false},
		"a proxy is there":      {status(503), 20 * time.Second, 15 * time.Second, upstream.HTTP, 16 * time.Second, true},
		"until a time":          {status(503, "4"), 20 * time.Second, 7 * time.Second, upstream.HTTP, 9 * time.Second, true},
		"until a late time":     {status(503, "60"), 20 * time.Second, time.Hour, upstream.HTTP, time.Millisecond, false},
		"refused for too long":  {refused, 20 * time.Second, time.Hour, upstream.HTTP, 21 * time.Second, false},
		"refused, not starting": {refused, 0, time.Second, upstream.HTTP, time.Millisecond, false},
		"a wrong address":       {status(404), 20 * time.Second, time.Hour, upstream.HTTP, time.Millisecond, false},
		"another failure":       {func() (*http.Response, error) { return nil, errors.New("no") }, 20 * time.Second, time.Hour, upstream.HTTP, time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &lateServer{away: tt.away, how: tt.how}
				s.began = time.Now()
				s.get = func(int) (int, io.Reader) { return 405, strings.NewReader("") }
				u, err := upstream.Start(&upstream.Config{Name: "late", URL: "http://late.example", Transport: tt.transport, Wrap: func(*http.Transport) http.RoundTripper { return s }},
					&upstream.Options{Starting: tt.starting})
				if err != nil {
					t.Fatal(err)
				}
				defer u.Close()
				err = u.Ready(t.Context())
				if took := time.Since(s.began); took > tt.most || (err == nil) != tt.ready {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

// With a list that is known, the first failure counts, although the server is tried
// again each half second: a call does not wait longer than for any server that is away.
func TestStartingKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		known bool
		ready time.Duration // until Ready returns, at most
	}{
		"known":     {true, time.Millisecond},
		"not known": {false, 21 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Duration
				s := &lateServer{away: time.Hour}
				began := time.Now()
				s.began = began
				s.how = func() (*http.Response, error) {
					asked = append(asked, time.Since(began))
					return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
				}
				opts := &upstream.Options{Starting: 20 * time.Second}
				if tt.known {
					opts.Known = &upstream.Known{Version: "2025-11-25", Capabilities: []byte(`{"resources":{"subscribe":true}}`)}
				}
				u, err := upstream.Start(&upstream.Config{Name: "late", URL: "http://late.example", Transport: upstream.HTTP, Wrap: func(*http.Transport) http.RoundTripper { return s }}, opts)
				if err != nil {
					t.Fatal(err)
				}
				defer u.Close()
				if tt.known {
					err = u.Features().Subscribe(t.Context(), "x:1", true)
					if took := time.Since(s.began); err == nil || took > 5*time.Second {
						t.Errorf("the call ended after %v: %v", took, err)
					}
				}
				asks := time.Now()
				err = u.Ready(t.Context())
				if took := time.Since(asks); err == nil || took > tt.ready {
					t.Errorf("Ready returned after %v: %v", took, err)
				}
				time.Sleep(time.Until(began.Add(18 * time.Second)))
				synctest.Wait()
				if n := len(asked); n < 20 {
					t.Errorf("the server was tried %d times: %v", n, asked)
				}
			})
		})
	}
}
