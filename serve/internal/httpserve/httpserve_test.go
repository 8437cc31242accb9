package httpserve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/serve/internal/httpserve"
)

// serve serves h on loopback, by net/http alone or not, and returns the address.
func serve(t *testing.T, alone bool, h http.HandlerFunc) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(h)
	ours := httpserve.New(server)
	t.Cleanup(func() { _ = ours.Close() })
	if alone {
		go func() { _ = server.Serve(l) }()
	} else {
		go func() { _ = ours.Serve(l) }()
	}
	return l.Addr().String()
}

func newServer(h http.HandlerFunc) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
}

func dial(t *testing.T, address string) net.Conn {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// answers sends requests over one connection and describes what comes back, until the
// connection ends or there is an answer to each of the requests.
func answers(t *testing.T, address, requests string, n int) (found []string) {
	c := dial(t, address)
	go func() { _, _ = io.WriteString(c, requests) }()
	in := bufio.NewReader(c)
	for range n {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(found, "the connection ends")
		}
		body, err := io.ReadAll(r.Body)
		r.Header.Del("Date")
		found = append(found, fmt.Sprint(r.Status, r.Header, r.ContentLength, r.TransferEncoding, r.Close, string(body), err))
	}
	return found
}

// describe answers with what it was asked, in a way that the path says.
func describe(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.URL.Path != "/unread" {
		body, _ = io.ReadAll(r.Body)
	}
	r.Header.Del("Authorization")
	text := fmt.Sprintln(r.Method, r.URL, r.RequestURI, r.Proto, r.Host, r.Header, r.ContentLength, r.TransferEncoding, string(body))
	w.Header().Set("Content-Type", "text/plain")
	switch r.URL.Path {
	case "/length":
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	case "/flush":
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
	case "/long":
		text = strings.Repeat(text, 1000)
	case "/long-length":
		text = strings.Repeat(text, 1000)
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	case "/empty":
		w.WriteHeader(http.StatusAccepted)
		return
	case "/none":
		w.WriteHeader(http.StatusNoContent)
		return
	case "/close":
		w.Header().Set("Connection", "close")
	case "/odd":
		w.Header().Set("X-Odd", "a\r\nb: c")
		delete(w.Header(), "Content-Type")
	case "/short":
		w.Header().Set("Content-Length", "100000")
	case "/panic":
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, text)
}

// Whatever a client sends, it gets what net/http answers.
func TestAnswersAsNetHTTP(t *testing.T) {
	const post = "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
	ours, theirs := serve(t, false, describe), serve(t, true, describe)
	requests := map[string]string{
		"twice":             post + "\r\n{}" + post + "\r\n[]",
		"other head":        post + "Mcp-Name: a\r\n\r\n{}" + post + "Mcp-Name: b\r\n\r\n{}" + post + "\r\n{}",
		"credential":        post + "Authorization: a\r\n\r\n{}" + post + "Authorization: a\r\n\r\n{}",
		"same header twice": post + "a: b\r\nA: c\r\n\r\n{}",
		"white space":       post + "a:\t b c \t\r\nb:\r\n\r\n{}",
		"then GET":          post + "\r\n{}GET /x?y=z HTTP/1.1\r\nHost: a\r\n\r\n" + post + "\r\n{}",
		"chunks":            "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + post + "\r\n{}",
		"both lengths":      post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"two lengths":       post + "Content-Length: 3\r\n\r\n{} ",
		"signed length":     "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
		"no length":         "POST /a HTTP/1.1\r\nHost: a\r\n\r\n" + post + "\r\n{}",
		"no host":           "POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
		"two hosts":         post + "Host: b\r\n\r\n{}",
		"odd host":          "POST /a HTTP/1.1\r\nHost: a b\r\nContent-Length: 2\r\n\r\n{}",
		"1.0":               "POST /length HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
		"other method":      "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
		"query":             "POST /a?b=c HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
		"escaped":           "POST /%61/../b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
		"line feeds":        strings.ReplaceAll(post+"\r\n{}", "\r\n", "\n"),
		"a line feed":       post + "a: b\nContent-Length: 4\r\n\r\n{}",
		"a carriage return": post + "a: b\rc\r\n\r\n{}",
		"folded":            post + "a: b\r\n c\r\n\r\n{}",
		"space before":      post + "a : b\r\n\r\n{}",
		"odd name":          post + "a(: b\r\n\r\n{}",
		"no name":           post + ": b\r\n\r\n{}",
		"no colon":          post + "ab\r\n\r\n{}",
		"not ASCII":         post + "a: \xe4\r\n\r\n{}",
		"zero":              post + "a: \x00\r\n\r\n{}",
		"expects":           post + "Expect: 100-continue\r\n\r\n{}",
		"closes":            post + "Connection: close\r\n\r\n{}" + post + "\r\n{}",
		"keeps":             post + "Connection: keep-alive\r\n\r\n{}" + post + "\r\n{}",
		"large head":        post + "a: " + strings.Repeat("b", 5000) + "\r\n\r\n{}" + post + "\r\n{}",
		"large body":        "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat(" ", 70_000) + post + "\r\n{}",
		"no request":        "hello\r\n\r\n",
		"line break after":  post + "\r\n{}\r\n" + post + "\r\n{}\n",
		"break, then GET":   post + "\r\n{}\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"empty body":        "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" + post + "\r\n{}",
	}
	for _, path := range []string{"/", "/length", "/flush", "/long", "/long-length", "/empty", "/none", "/close", "/odd", "/short", "/panic", "/unread"} {
		requests[path] = "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}" + post + "\r\n{}"
	}
	for name, text := range requests {
		n := max(1, strings.Count(text, "HTTP/1."))
		want := answers(t, theirs, text, n)
		if diff := cmp.Diff(want, answers(t, ours, text, n)); diff != "" {
			t.Errorf("%s (-net/http, +ours):\n%s", name, diff)
		}
	}
}

// The context of a request ends when the client leaves, and with the answer.
func TestContextEnds(t *testing.T) {
	contexts, left := make(chan context.Context, 2), make(chan error)
	address := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		child, cancel := context.WithCancel(r.Context())
		defer cancel()
		contexts <- r.Context()
		if r.URL.Path == "/waits" {
			<-child.Done()
			<-r.Context().Done()
			left <- context.Cause(child)
		}
	})
	const post = "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
	c := dial(t, address)
	fmt.Fprintf(c, post, "/")
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	answered := <-contexts
	<-answered.Done()
	if err := answered.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("after the answer: %v", err)
	}
	called := make(chan bool)
	if stop := context.AfterFunc(answered, func() { close(called) }); stop() {
		t.Error("a function waits for a context that has ended")
	}
	<-called
	fmt.Fprintf(c, post, "/waits")
	if err := (<-contexts).Err(); err != nil {
		t.Errorf("before the client leaves: %v", err)
	}
	_ = c.Close()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the client left: %v", err)
	}
}

// A connection is watched while an answer takes long, and then used again.
func TestWatchedConnectionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, end := servePipe(newServer(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			time.Sleep(5 * time.Minute) // longer than a connection may be idle
			_, _ = fmt.Fprint(w, r.Context().Err())
		}))
		defer end()
		in := bufio.NewReader(c)
		for range 3 {
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(r.Body); string(body) != "<nil>" {
				t.Errorf("got %s", body)
			}
		}
	})
}

// A connection over which nothing comes is closed: after the head has begun, or while it is idle.
func TestTimeouts(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
	for sent, limit := range map[string]time.Duration{"": 10 * time.Second, "POST": 10 * time.Second, post: time.Minute, post + "POST": 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			c, end := servePipe(newServer(describe))
			defer end()
			start := time.Now()
			go func() { _, _ = io.WriteString(c, sent) }()
			_, _ = io.Copy(io.Discard, c)
			if took := time.Since(start); took != limit {
				t.Errorf("%q: closed after %v, want %v", sent, took, limit)
			}
		})
	}
}

// A body that does not come is waited for as long as the handler says.
func TestBodyDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, end := servePipe(newServer(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(3 * time.Second))
			_, err := io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, err)
		}))
		defer end()
		start := time.Now()
		go func() { _, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{") }()
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		if took := time.Since(start); took != 3*time.Second || !strings.Contains(string(body), "timeout") {
			t.Errorf("after %v: %s", took, body)
		}
	})
}

// A client that stops reading breaks its connection.
func TestWriteDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		c, end := servePipe(newServer(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			_ = control.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = w.Write([]byte("x"))
			failed <- control.Flush()
		}))
		defer end()
		go func() { _, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}") }()
		if err := <-failed; err == nil {
			t.Error("a write succeeded that nobody read")
		}
	})
}

// Shutdown waits for answers, and ends what is idle.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, goOn := make(chan bool), make(chan bool)
		l := newPipes()
		s := httpserve.New(newServer(func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-goOn
			_, _ = io.WriteString(w, "done")
		}))
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		idle, busy := l.dial(), l.dial()
		_, _ = io.WriteString(busy, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
		<-begun
		down := make(chan error, 1)
		go func() { down <- s.Shutdown(context.Background()) }()
		if _, err := idle.Read(make([]byte, 1)); err == nil {
			t.Error("an idle connection is open")
		}
		synctest.Wait()
		if len(down) > 0 {
			t.Error("Shutdown did not wait")
		}
		close(goOn)
		answer, _ := io.ReadAll(busy)
		if !strings.HasSuffix(string(answer), "done") || !strings.Contains(string(answer), "Connection: close") {
			t.Errorf("got %s", answer)
		}
		if err := <-down; err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// Close ends requests under way.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		ended := make(chan bool)
		s := httpserve.New(newServer(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(ended)
		}))
		go func() { _ = s.Serve(l) }()
		c := l.dial()
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
		synctest.Wait()
		_ = s.Close()
		<-ended
	})
}

// A pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// servePipe serves one connection in memory.
func servePipe(server *http.Server) (client net.Conn, end func()) {
	l, s := newPipes(), httpserve.New(server)
	go func() { _ = s.Serve(l) }()
	c := l.dial()
	return c, func() { _ = c.Close(); _ = s.Close() }
}

// What a client sends reaches one request only, also if a handler keeps it.
func TestHeadersAreOfOneRequest(t *testing.T) {
	var kept []http.Header
	address := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		kept = append(kept, r.Header)
		r.Header.Set("X-Seen", "yes")
		r.URL.Path = "/seen"
	})
	const post = "POST / HTTP/1.1\r\nHost: a\r\nX: 1\r\nContent-Length: 0\r\n\r\n"
	answers(t, address, post+post, 2)
	if len(kept) != 2 || slices.ContainsFunc(kept, func(h http.Header) bool { return h.Get("X") != "1" || len(h) != 3 }) {
		t.Errorf("got %v", kept)
	}
}
