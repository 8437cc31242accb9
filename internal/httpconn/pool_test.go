package httpconn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A rawServer answers each request with the bytes that answer returns. It closes
// the connection after an answer that is not followed by true.
type rawServer struct {
	url      string
	opened   atomic.Int64 // connections
	requests atomic.Int64
	closed   chan int // numbers of connections that the client closed
}

func newRawServer(t testing.TB, answer func(n int, req *http.Request) (response string, stay bool)) *rawServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + l.Addr().String(), closed: make(chan int, 1000)}
	var serving sync.WaitGroup
	serve := func(c net.Conn, number int) {
		defer c.Close()
		in := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(in)
			if err != nil {
				select {
				case s.closed <- number:
				default: // a fuzz target that does not look
				}
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			response, stay := answer(int(s.requests.Add(1)), req)
			if _, err := io.WriteString(c, response); err != nil || !stay {
				return
			}
		}
	}
	var mu sync.Mutex
	var open []net.Conn
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			number := int(s.opened.Add(1))
			serving.Go(func() { serve(c, number) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return s
}

// newPool returns a transport as upstreams have it, and its pool.
func newPool(t testing.TB) (*http.Transport, *Pool) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.DisableCompression = nil, true
	transport.MaxIdleConnsPerHost = 64
	p := Register(transport)
	t.Cleanup(p.CloseIdleConnections)
	return transport, p
}

func newRequest(t testing.TB, method, url, body string) *http.Request {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send returns what a response says, with its body read to the end.
func send(rt http.RoundTripper, r *http.Request) (string, error) {
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s %v %v %v %q", resp.StatusCode, resp.Proto, resp.Header, resp.Trailer, resp.ContentLength, body), err
}

const good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"

// What becomes of a connection after a response.
const (
	kept    = iota // it carries another request
	dropped        // the server would take another request, and must not get one
	ended          // the server closes it
)

// responses are answers, and what becomes of their connections.
var responses = []struct {
	name, method, response string
	after                  int
}{
	{"length", "POST", good, kept},
	{"chunks", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", kept},
	{"trailer", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n", kept},
	{"no content", "POST", "HTTP/1.1 204 No Content\r\n\r\n", kept},
	{"accepted", "POST", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", kept},
	{"not modified", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", kept},
	{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", kept},
	{"continue", "POST", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + good, kept},
	{"1.0 kept", "POST", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", kept},
	{"1.0", "POST", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", dropped},
	{"close", "POST", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", dropped},
	{"a second response", "POST", good + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", dropped},
	{"more than its length", "POST", good + "x", dropped},
	{"until the end", "POST", "HTTP/1.1 200 OK\r\n\r\nall of it", ended},
	{"less than its length", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nless", ended},
	{"two lengths", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", dropped},
	{"length and chunks", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", kept},
	{"odd chunk", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\nabc\r\n0\r\n\r\n", dropped},
	{"no status", "POST", "hello\r\n\r\n", dropped},
	{"status 099", "POST", "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", dropped},
	{"nothing", "POST", "", ended},
	{"half a header", "POST", "HTTP/1.1 200 OK\r\nContent-", ended},
	{"1.0 until the end", "POST", "HTTP/1.0 200 OK\r\n\r\nall of it", ended},
	{"1.0 kept, without length", "POST", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nall of it", ended},
	{"1.0 with chunks", "POST", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", ended},
	{"a body without content", "POST", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil", dropped},
	{"a body of chunks without content", "POST", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", dropped},
	{"a response without content, and a second one", "POST", "HTTP/1.1 204 No Content\r\n\r\n" + forged, dropped},
	{"a body for HEAD", "HEAD", forged, dropped},
	{"a body that is not modified", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil", dropped},
	{"length behind chunks", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n1\r\nx\r\n0\r\n\r\n", kept},
	{"chunks, and a second response", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + forged, dropped},
	{"chunks twice", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", dropped},
	{"chunks in chunks", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", dropped},
	{"identity", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nx", dropped},
	{"space before the colon", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\ngood", kept},
	{"folded header", "POST", "HTTP/1.1 200 OK\r\nX: a\r\n Content-Length: 9\r\nContent-Length: 4\r\n\r\ngood", kept},
	{"the same length twice", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\ngood", kept},
	{"length with a sign", "POST", "HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\ngood", dropped},
	{"length below zero", "POST", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\ngood", dropped},
	{"length out of range", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\ngood", dropped},
	{"chunk out of range", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx", dropped},
	{"chunk longer than its size", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n", dropped},
	{"half of the chunks", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", ended},
	{"no last chunk", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", ended},
	{"half a trailer", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n", ended},
	{"a trailer that frames", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\nContent-Length: 9\r\n\r\n", ended},
	{"a long trailer", "POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + strings.Repeat("b", 8<<10) + "\r\n\r\n", dropped},
	{"lines without CR", "POST", "HTTP/1.1 200 OK\nContent-Length: 4\n\ngood", kept},
	{"a line without CR, then one with it", "POST", "HTTP/1.1 200 OK\nContent-Length: 6\r\nContent-Length: 4\r\n\r\ngood", dropped},
	{"gzip", "POST", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00", kept},
	{"many interim responses", "POST", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 50) + good, kept},
	{"an interim response with a length", "POST", "HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\n" + good, kept},
	{"an interim response that closes", "POST", "HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n" + good, kept},
	{"an interim response only", "POST", "HTTP/1.1 100 Continue\r\n\r\n", ended},
	{"HTTP/2", "POST", "HTTP/2.0 200 OK\r\nContent-Length: 4\r\n\r\ngood", kept},
	{"HTTP/0.9", "POST", "good", ended},
	{"a preface of HTTP/2", "POST", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", dropped},
	{"an empty line first", "POST", "\r\n" + good, dropped},
	{"a redirect", "POST", "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", kept},
}

// forged is what a server wants to be taken for the answer to another request.
const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

// Responses are read as net/http reads them, and what comes after one is never
// taken for the answer to the next request.
func TestResponses(t *testing.T) {
	for _, tt := range responses {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, func(n int, _ *http.Request) (string, bool) {
				if n == 1 {
					return tt.response, tt.after != ended
				}
				return good, true
			})
			_, p := newPool(t)
			got, err := send(p, newRequest(t, tt.method, s.url, "body"))
			other := newRawServer(t, func(int, *http.Request) (string, bool) { return tt.response, false })
			same(t, other.url, tt.method, tt.response, got, err)
			if got, err := send(p, newRequest(t, "POST", s.url, "body")); err != nil || !strings.HasSuffix(got, `"good"`) {
				t.Errorf("the second request: %s, %v", got, err)
			}
			if again := s.opened.Load() == 1; again != (tt.after == kept) {
				t.Errorf("the connection is used again: %v", again)
			}
		})
	}
}

// same checks that net/http reads the response of a server as got and err say.
func same(t testing.TB, url, method, response, got string, err error) {
	t.Helper()
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.Proxy, plain.DisableCompression, plain.DisableKeepAlives = nil, true, true
	defer plain.CloseIdleConnections()
	want, wantErr := send(plain, newRequest(t, method, url, "body"))
	if got != want || (err == nil) != (wantErr == nil) {
		t.Errorf("%s %q:\ngot  %s, %v\nwant %s, %v", method, response, got, err, want, wantErr)
	}
}

func FuzzResponses(f *testing.F) {
	for _, tt := range responses {
		f.Add(tt.method == "HEAD", tt.response)
	}
	const again = "Idempotency-Key" // the server may close the connection while a request with it is sent
	var answer atomic.Pointer[string]
	s := newRawServer(f, func(_ int, r *http.Request) (string, bool) { // one for all runs: the ports are few
		if r.Header.Get(again) != "" {
			return good, true
		}
		return *answer.Load(), false
	})
	f.Fuzz(func(t *testing.T, head bool, response string) {
		if len(response) > 4<<10 || strings.Contains(response, " 101") { // net/http hands on the connection after 101
			return
		}
		method := "POST"
		if head {
			method = "HEAD"
		}
		answer.Store(&response)
		_, p := newPool(t)
		got, err := send(p, newRequest(t, method, s.url, "body"))
		same(t, s.url, method, response, got, err)
		next := newRequest(t, "POST", s.url, "body")
		next.Header.Set(again, "1")
		if got, err := send(p, next); err != nil || !strings.HasSuffix(got, `"good"`) {
			t.Errorf("after %q: %s, %v", response, got, err)
		}
	})
}

// A server that closes an idle connection costs nobody a request. One that
// closes it when a request has come gets the request again only if that does no
// harm, and never twice.
func TestClosedConnections(t *testing.T) {
	for _, tt := range []struct {
		name, method, key string
		second            string // what the server answers before it closes
		requests          int64  // that come, without the first
		fails             bool
	}{
		{"idle", "POST", "", good, 1, false},
		{"in use", "POST", "", "", 1, true},
		{"in use, GET", "GET", "", "", 2, false},
		{"in use, repeatable", "POST", "k", "", 2, false},
		{"in the header, GET", "GET", "", "HTTP/1.1 200", 1, true},
		{"in the body, GET", "GET", "", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, func(n int, _ *http.Request) (string, bool) {
				if n == 2 {
					return tt.second, false
				}
				return good, tt.name != "idle"
			})
			_, p := newPool(t)
			if _, err := send(p, newRequest(t, "POST", s.url, "1")); err != nil {
				t.Fatal(err)
			}
			if tt.name == "idle" {
				waitUntil(t, func() bool { return !peekable(p) })
			}
			r := newRequest(t, tt.method, s.url, "2")
			if tt.method == "GET" {
				r = newRequest(t, tt.method, s.url, "")
			}
			if tt.key != "" {
				r.Header.Set("Idempotency-Key", tt.key)
			}
			if got, err := send(p, r); (err != nil) != tt.fails {
				t.Errorf("got %s, %v", got, err)
			}
			if n := s.requests.Load() - 1; n != tt.requests {
				t.Errorf("the server got %d requests, want %d", n, tt.requests)
			}
		})
	}
}

// peekable reports whether the connection that is idle is still open.
func peekable(p *Pool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle[0].check.alive()
}

func waitUntil(t testing.TB, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !done(); runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatal("it did not happen within a minute")
		}
	}
}

// A request that is cancelled ends at once, whatever it waits for, for the
// reason of its context, and its connection is closed.
func TestCancel(t *testing.T) {
	reason := errors.New("nobody waits")
	for _, where := range []string{"dial", "write", "header", "body"} {
		t.Run(where, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer theirs.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			transport, p := newPool(t)
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				if where == "dial" {
					cancel(reason)
					<-ctx.Done()
					return nil, errors.New("not dialled")
				}
				return ours, nil
			}
			served := make(chan struct{})
			go func() {
				defer close(served)
				in := bufio.NewReader(theirs)
				switch where {
				case "dial":
					return
				case "write":
					_, _ = in.ReadByte()
				case "header":
					_, _ = http.ReadRequest(in)
				case "body":
					if r, err := http.ReadRequest(in); err == nil {
						_, _ = io.Copy(io.Discard, r.Body)
					}
					_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
				}
				cancel(reason)
				_, _ = io.Copy(io.Discard, theirs) // until it is closed
			}()
			r := newRequest(t, "POST", "http://127.0.0.1:1/", strings.Repeat("x", 16<<10)).WithContext(ctx)
			if _, err := send(p, r); err != reason {
				t.Errorf("got %v", err)
			}
			select {
			case <-served:
			case <-time.After(time.Minute):
				t.Error("the connection is still open")
			}
		})
	}
}

// A request whose context is over is not sent.
func TestOverBeforeItBegins(t *testing.T) {
	s := newRawServer(t, func(int, *http.Request) (string, bool) { return good, true })
	_, p := newPool(t)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := send(p, newRequest(t, "POST", s.url, "x").WithContext(ctx)); err != context.Canceled {
			t.Errorf("got %v", err)
		}
		if n := s.requests.Load(); n > 1 {
			t.Errorf("the server got %d requests", n)
		}
		if _, err := send(p, newRequest(t, "POST", s.url, "x")); err != nil {
			t.Fatal(err)
		}
	}
}

// A body can be closed while it is read.
func TestCloseWhileReading(t *testing.T) {
	s := newRawServer(t, func(int, *http.Request) (string, bool) {
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", true
	})
	_, p := newPool(t)
	resp, err := p.RoundTrip(newRequest(t, "GET", s.url, ""))
	if err != nil {
		t.Fatal(err)
	}
	began, read := make(chan struct{}), make(chan error)
	go func() {
		_, _ = resp.Body.Read(make([]byte, 1))
		close(began)
		_, err := resp.Body.Read(make([]byte, 1))
		read <- err
	}()
	<-began
	resp.Body.Close()
	if err := <-read; err == nil {
		t.Error("the body has no error after it was closed")
	}
	<-s.closed
}

// A header without an end, or of very many interim responses, is given up.
func TestEndlessHeaders(t *testing.T) {
	for _, repeated := range []string{"A: b\r\n", "HTTP/1.1 100 Continue\r\n\r\n"} {
		s := newRawServer(t, func(int, *http.Request) (string, bool) {
			return "HTTP/1.1 100 Continue\r\n" + strings.TrimPrefix(strings.Repeat(repeated, 4000), "HTTP/1.1 100 Continue\r\n"), true
		})
		transport, p := newPool(t)
		transport.MaxResponseHeaderBytes = 16 << 10
		if _, err := send(p, newRequest(t, "POST", s.url, "")); err == nil || !strings.Contains(err.Error(), "more than 16384 bytes") {
			t.Errorf("%q: got %v", repeated, err)
		}
	}
}

// A server that answers before it has read the request, and reads nothing of it,
// blocks nobody.
func TestEarlyAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	end := make(chan struct{})
	defer close(end)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(c, make([]byte, 1))
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
			go func() {
				<-end
				c.Close()
			}()
		}
	}()
	for _, size := range []int{maxBody, maxBody + 1, 8 << 20} {
		transport, _ := newPool(t)
		defer transport.CloseIdleConnections()
		got, err := send(transport, newRequest(t, "POST", "http://"+l.Addr().String(), strings.Repeat("x", size)))
		if err != nil || !strings.HasPrefix(got, "413") {
			t.Errorf("%d bytes: got %s, %v", size, got, err)
		}
	}
}

// What a pool cannot send simply is left to net/http.
func TestLeftToNetHTTP(t *testing.T) {
	proxy, _ := url.Parse("http://127.0.0.1:1")
	for name, change := range map[string]func(*http.Transport, *http.Request){
		"large body":        func(_ *http.Transport, r *http.Request) { r.ContentLength = maxBody + 1 },
		"unknown length":    func(_ *http.Transport, r *http.Request) { r.ContentLength = 0 },
		"chunks":            func(_ *http.Transport, r *http.Request) { r.ContentLength = -1 },
		"method":            func(_ *http.Transport, r *http.Request) { r.Method = "CONNECT" },
		"expect":            func(_ *http.Transport, r *http.Request) { r.Header.Set("Expect", "100-continue") },
		"upgrade":           func(_ *http.Transport, r *http.Request) { r.Header.Set("Upgrade", "websocket") },
		"connection":        func(_ *http.Transport, r *http.Request) { r.Header.Set("Connection", "close") },
		"close":             func(_ *http.Transport, r *http.Request) { r.Close = true },
		"trailer":           func(_ *http.Transport, r *http.Request) { r.Trailer = http.Header{"A": nil} },
		"host in Unicode":   func(_ *http.Transport, r *http.Request) { r.URL.Host = "exämple.com" },
		"compression":       func(t *http.Transport, _ *http.Request) { t.DisableCompression = false },
		"no keep-alive":     func(t *http.Transport, _ *http.Request) { t.DisableKeepAlives = true },
		"limit":             func(t *http.Transport, _ *http.Request) { t.MaxConnsPerHost = 1 },
		"header time limit": func(t *http.Transport, _ *http.Request) { t.ResponseHeaderTimeout = time.Second },
		"dialer":            func(t *http.Transport, _ *http.Request) { t.DialContext = nil },
		"proxy":             func(t *http.Transport, _ *http.Request) { t.Proxy = http.ProxyURL(proxy) },
		"odd proxy": func(t *http.Transport, _ *http.Request) {
			t.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("odd") }
		},
		"trace": func(_ *http.Transport, r *http.Request) {
			*r = *r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{}))
		},
	} {
		transport, p := newPool(t)
		r := newRequest(t, "POST", "http://127.0.0.1:1/", "body")
		change(transport, r)
		body := r.Body
		if _, err := p.RoundTrip(r); err != http.ErrSkipAltProtocol {
			t.Errorf("%s: got %v", name, err)
		}
		if rest, err := io.ReadAll(body); string(rest) != "body" || err != nil {
			t.Errorf("%s: the body has %q left, %v", name, rest, err)
		}
	}
}

// At most so many connections stay idle, without a goroutine each, and they are
// closed after a while or when that is asked for.
func TestIdleConnections(t *testing.T) {
	const most, calls = 3, 8
	var together sync.WaitGroup
	together.Add(calls)
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		together.Done()
		together.Wait()
	}))
	defer h.Close()
	var open atomic.Int64
	transport, p := newPool(t)
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = most, 0
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err == nil {
			open.Add(1)
			return &counted{Conn: c, open: &open}, nil
		}
		return nil, err
	}
	run := func() {
		var calling sync.WaitGroup
		for range calls {
			calling.Go(func() {
				if _, err := send(transport, newRequest(t, "POST", h.URL, "x")); err != nil {
					t.Error(err)
				}
			})
		}
		calling.Wait()
	}
	run()
	if n := open.Load(); n != most {
		t.Errorf("%d connections are open, want %d", n, most)
	}
	if stacks := allStacks(); strings.Contains(stacks, "httpconn.(") {
		t.Errorf("a goroutine is left:\n%s", stacks)
	}
	p.CloseIdleConnections()
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are open after they were closed", n)
	}
	transport.IdleConnTimeout = time.Millisecond
	together.Add(calls)
	run()
	waitUntil(t, func() bool { return open.Load() == 0 })
}

// A counted connection counts that it was closed.
type counted struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *counted) SyscallConn() (syscall.RawConn, error) { return c.Conn.(syscall.Conn).SyscallConn() }

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

func allStacks() string {
	b := make([]byte, 1<<20)
	var own bytes.Buffer
	for _, stack := range strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n") {
		if !strings.Contains(stack, "testing.tRunner") {
			own.WriteString(stack + "\n\n")
		}
	}
	return own.String()
}

// Connections whose idle requests end after CloseIdleConnections are closed too,
// and one of which nobody can tell whether it is open is used once.
func TestConnectionsThatAreNotKept(t *testing.T) {
	release := make(chan struct{})
	s := newRawServer(t, func(n int, _ *http.Request) (string, bool) {
		if n == 1 {
			<-release
		}
		return good, true
	})
	transport, p := newPool(t)
	done := make(chan error)
	go func() {
		_, err := send(p, newRequest(t, "POST", s.url, "x"))
		done <- err
	}()
	waitUntil(t, func() bool { return s.requests.Load() == 1 })
	p.CloseIdleConnections()
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	<-s.closed
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return struct{ net.Conn }{c}, err
	}
	for range 2 {
		if _, err := send(p, newRequest(t, "POST", s.url, "x")); err != nil {
			t.Fatal(err)
		}
		<-s.closed
	}
}

// Many requests at once get their own answers, while some are cancelled.
func TestManyRequests(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer h.Close()
	transport, _ := newPool(t)
	var calling sync.WaitGroup
	for i := range 16 {
		calling.Go(func() {
			for j := range 50 {
				body := fmt.Sprintf("%d-%d", i, j)
				r := newRequest(t, "POST", h.URL, body)
				if j%7 == 3 {
					ctx, cancel := context.WithCancel(r.Context())
					time.AfterFunc(time.Duration(j)*20*time.Microsecond, cancel)
					r = r.WithContext(ctx)
				}
				got, err := send(transport, r)
				if err == nil && !strings.HasSuffix(got, `"`+body+`"`) || err != nil && r.Context().Err() == nil {
					t.Errorf("%s: got %s, %v", body, got, err)
				}
			}
		})
	}
	calling.Wait()
}

// BenchmarkRoundTrip compares a pool with net/http.
func BenchmarkRoundTrip(b *testing.B) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer h.Close()
	pooled, _ := newPool(b)
	plain := http.DefaultTransport.(*http.Transport).Clone()
	defer plain.CloseIdleConnections()
	for name, rt := range map[string]http.RoundTripper{"pool": pooled, "net": plain} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequestWithContext(b.Context(), "POST", h.URL, strings.NewReader("some body"))
				if _, err := send(rt, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
