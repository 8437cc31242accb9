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
	status := func(status int) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x"))}, nil
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
		"reset":                 {func() (*http.Response, error) { return nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET} }, 20 * time.Second, 3 * time.Second, upstream.HTTP, 4 * time.Second, true},
		"a proxy is there":      {status(503), 20 * time.Second, 15 * time.Second, upstream.HTTP, 16 * time.Second, true},
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
