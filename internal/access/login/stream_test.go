package login_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/httpconn"
)

// streaming makes the MCP server answer GET with a stream, and returns what sends a line on
// the newest one. It ends the test if the client has left that stream.
func streaming(w *world) (send func(t *testing.T, line string)) {
	type stream struct {
		lines chan string
		ended <-chan struct{}
	}
	var newest atomic.Pointer[stream]
	w.inner = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet {
			fmt.Fprint(rw, "welcome")
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		s := &stream{make(chan string), req.Context().Done()}
		newest.Store(s)
		for {
			_ = http.NewResponseController(rw).Flush()
			select {
			case line := <-s.lines:
				fmt.Fprintln(rw, line)
			case <-s.ended:
				return
			}
		}
	})
	return func(t *testing.T, line string) {
		t.Helper()
		s := newest.Load()
		select {
		case s.lines <- line:
		case <-s.ended:
			t.Fatalf("the stream has ended before %q", line)
		}
	}
}

// openStream opens a stream with the login.
func openStream(t *testing.T, l *login.Logins, cfg *config.Server, pooled bool) *bufio.Reader {
	t.Helper()
	base := &http.Transport{DisableKeepAlives: true}
	if pooled { // as upstream connects without TLS
		base.DisableKeepAlives = false
		httpconn.Register(base)
	}
	web := &http.Client{Transport: l.Wrap(cfg, "x", nil)(base)}
	resp, err := web.Get(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return bufio.NewReader(resp.Body)
}

// A stream that was opened with a login ends when the login ends or is replaced, here or
// in another process, and goes on while the login is renewed.
func TestStreamEndsWithLogin(t *testing.T) {
	for _, pooled := range []bool{false, true} {
		for name, end := range map[string]func(l *login.Logins, w *world) error{
			"logout": func(l *login.Logins, w *world) error {
				_, err := l.Logout(t.Context(), w.config())
				return err
			},
			"another login": func(l *login.Logins, w *world) error {
				_, err := l.Login(t.Context(), w.config(), nil, browser(t))
				return err
			},
		} {
			w, v := newWorld(t), vault.Folder(t.TempDir())
			send := streaming(w)
			running, other := login.New(v, nil), login.New(v, nil)
			running.WatchOften()
			if _, err := other.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
				t.Fatal(err)
			}
			stream := openStream(t, running, w.config(), pooled)
			read := func() (string, error) {
				text, err := stream.ReadString('\n')
				return strings.TrimSpace(text), err
			}
			send(t, "one")
			if got, err := read(); got != "one" || err != nil {
				t.Fatalf("%s: %q, %v", name, got, err)
			}
			w.expire()
			mustAsk(t, running, w.config()) // renews
			mustAsk(t, other, w.config())
			send(t, "two")
			if got, err := read(); got != "two" || err != nil {
				t.Fatalf("%s: after a renewal: %q, %v", name, got, err)
			}
			if err := end(other, w); err != nil {
				t.Fatal(err)
			}
			if got, err := read(); !errors.Is(err, login.ErrLoggedOut) {
				t.Errorf("%s: the stream goes on: %q, %v", name, got, err)
			}
		}
	}
}

// A stream that its reader closes is closed, and nothing watches it any more.
func TestStreamIsClosed(t *testing.T) {
	w := newWorld(t)
	send := streaming(w)
	l := login.New(vault.Folder(t.TempDir()), nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	web := &http.Client{Transport: l.Wrap(w.config(), "x", nil)(&http.Transport{DisableKeepAlives: true})}
	for range 3 {
		resp, err := web.Get(w.config().URL)
		if err != nil {
			t.Fatal(err)
		}
		send(t, "one")
		if got, err := bufio.NewReader(resp.Body).ReadString('\n'); got != "one\n" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		if l.Streams() != 1 {
			t.Errorf("%d streams are watched", l.Streams())
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, login.ErrLoggedOut) || err == io.EOF {
			t.Errorf("after the end: %d bytes, %v", n, err)
		}
		if l.Streams() != 0 {
			t.Errorf("%d streams are watched", l.Streams())
		}
	}
}
