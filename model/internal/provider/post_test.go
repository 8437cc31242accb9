package provider_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/model/internal/provider"
)

// received is what a server saw of a request.
type received struct {
	*http.Request
	body string
}

// serve answers each request with the status, the header and the text, and returns the
// last one it received.
func serve(t *testing.T, status int, header http.Header, text string) (address string, last *received) {
	last = new(received)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = received{r, string(body)}
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, last
}

func TestPost(t *testing.T) {
	address, last := serve(t, http.StatusOK, nil, "hello")
	for _, c := range []struct{ base, path, want string }{
		{"", "v1/messages", "/v1/messages"},
		{"/", "v1/messages", "/v1/messages"},
		{"/openai/v1", "responses", "/openai/v1/responses"},
		{"/openai/v1/", "responses", "/openai/v1/responses"},
		{"/v1?api-version=2", "responses", "/v1/responses?api-version=2"},
		{"/v1/?a=%20b&c#x", "responses", "/v1/responses?a=%20b&c"},
		{"?key=k", "v1beta/models/m%3F:streamGenerateContent?alt=sse", "/v1beta/models/m%3F:streamGenerateContent?key=k&alt=sse"},
		{"", "v1beta/models/m:streamGenerateContent?alt=sse", "/v1beta/models/m:streamGenerateContent?alt=sse"},
	} {
		s := provider.NewSender(address+c.base, nil)
		res, err := s.Post(t.Context(), c.path, http.Header{"x-custom": {"1"}, "Accept": {"text/event-stream"}}, []byte(`{"a":1}`))
		if err != nil {
			t.Errorf("%s: %v", c.base, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if string(text) != "hello" || err != nil {
			t.Errorf("%s: the response is %q, %v", c.base, text, err)
		}
		got := last.Header
		if last.Method != http.MethodPost || last.RequestURI != c.want || last.body != `{"a":1}` || last.ContentLength != 7 {
			t.Errorf("%s: received %s %s %s", c.base, last.Method, last.RequestURI, last.body)
		}
		if got.Get("Content-Type") != "application/json" || got.Get("X-Custom") != "1" || got.Get("Accept") != "text/event-stream" || !strings.HasPrefix(got.Get("User-Agent"), "toolpost") {
			t.Errorf("%s: the header is %v", c.base, got)
		}
	}
}

// TestPostOwnHeader replaces headers of the sender.
func TestPostOwnHeader(t *testing.T) {
	address, last := serve(t, http.StatusOK, nil, "")
	own := http.Header{"content-type": {"application/json; charset=utf-8"}, "User-Agent": {"mine/1"}}
	res, err := provider.NewSender(address, nil).Post(t.Context(), "a", own, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got := last.Header; len(got.Values("Content-Type")) != 1 || got.Get("Content-Type") != "application/json; charset=utf-8" || got.Get("User-Agent") != "mine/1" {
		t.Errorf("the header is %v", got)
	}
}

// TestPostRefuses sends nothing: the request would fail each time.
func TestPostRefuses(t *testing.T) {
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("no")
	})}
	for _, c := range []struct {
		base, name, value, want string
	}{
		{"localhost:11434/v1", "X-Api-Key", "key", "base URL"},
		{"ftp://host/v1", "X-Api-Key", "key", "base URL"},
		{"", "X-Api-Key", "key", "base URL"},
		{"https:///v1", "X-Api-Key", "key", "base URL"},
		{"https://user:pass-1 word@ho st", "X-Api-Key", "key", "base URL"},
		{"https://host", "X-Api-Key", "secret-key-42\n", "X-Api-Key"},
		{"https://host", "Authorization", "Bearer secret-key-42\r\nX: y", "Authorization"},
		{"https://host", "X-A", "\x00", "X-A"},
		{"https://host", "X A", "b", "X A"},
		{"https://host", "", "b", "name"},
	} {
		_, err := provider.NewSender(c.base, client).Post(t.Context(), "a", http.Header{c.name: {c.value}}, nil)
		if !provider.IsPermanent(err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "42") || strings.Contains(err.Error(), "pass-1") {
			t.Errorf("%s %q: the error is %v", c.base, c.value, err)
		}
	}
}

// TestPostStatus has responses with an error.
func TestPostStatus(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for _, c := range []struct {
		status int
		header http.Header
		text   string
		want   string // of the body
	}{
		{http.StatusBadRequest, http.Header{"Retry-After": {"7"}}, `{"error":"no"}`, `{"error":"no"}`},
		{http.StatusBadGateway, nil, long, long[:1<<20]},
		{http.StatusTemporaryRedirect, http.Header{"Location": {"https://elsewhere.example/secret?x=y"}}, "moved",
			"the server redirects to https://elsewhere.example; check the base URL"},
		{http.StatusNotModified, nil, "", "the server answered with HTTP status 304; check the base URL"},
	} {
		address, _ := serve(t, c.status, c.header, c.text)
		_, err := provider.NewSender(address, nil).Post(t.Context(), "a", nil, nil)
		failed, ok := errors.AsType[*provider.StatusError](err)
		if !ok || failed.Status != c.status || string(failed.Body) != c.want || failed.Header.Get("Retry-After") != c.header.Get("Retry-After") || provider.IsPermanent(err) {
			t.Errorf("%d: the error is %.200v", c.status, err)
		}
	}
}

// TestPostRedirect follows a redirect only if the program's client has a rule for them.
func TestPostRedirect(t *testing.T) {
	other, last := serve(t, http.StatusOK, nil, "hello")
	address, _ := serve(t, http.StatusTemporaryRedirect, http.Header{"Location": {other}}, "")
	given := &http.Client{}
	for name, client := range map[string]*http.Client{"none": nil, "given": given} {
		if _, err := provider.NewSender(address, client).Post(t.Context(), "a", nil, []byte("{}")); err == nil || last.Request != nil {
			t.Errorf("%s: the redirect was followed", name)
		}
	}
	if given.CheckRedirect != nil {
		t.Error("the program's client was changed")
	}
	given.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
	res, err := provider.NewSender(address, given).Post(t.Context(), "a", nil, []byte("{}"))
	if err != nil || last.body != "{}" {
		t.Fatalf("the redirect was not followed: %v; the other server received %q", err, last.body)
	}
	_ = res.Body.Close()
}

// TestPostUnreachable names the host, and not the secrets of the address.
func TestPostUnreachable(t *testing.T) {
	s := provider.NewSender("http://user:secret-word@host.example/v1?key=secret-word-2", &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if body, err := r.GetBody(); err != nil || body == nil {
			t.Errorf("the body cannot be sent again: %v", err)
		}
		return nil, io.ErrUnexpectedEOF
	})})
	_, err := s.Post(t.Context(), "a", nil, []byte("{}"))
	if !errors.Is(err, io.ErrUnexpectedEOF) || provider.IsPermanent(err) || err.Error() != "post to host.example: unexpected EOF" {
		t.Errorf("the error is %v", err)
	}
	if got := s.Hide("a secret-word-2 b user:secret-word"); strings.Contains(got, "secret-word") {
		t.Errorf("Hide returns %q", got)
	}
}

// TestHide hides what was sent, in whichever header.
func TestHide(t *testing.T) {
	address, _ := serve(t, http.StatusOK, nil, "")
	s := provider.NewSender(address, nil)
	header := http.Header{"Authorization": {"Bearer first-key"}, "x-goog-api-key": {"second-key"}, "X-Relay-Token": {"third-key"}, "X-Plain": {"fourth"}}
	res, err := s.Post(t.Context(), "a", header, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	s.AddSecrets("fifth-key", "")
	const text = "first-key, second-key, third-key, fourth, Bearer first-key, sk-abcdefgh1234, fifth-key"
	if got := s.Hide(text); got != "[secret], [secret], [secret], fourth, [secret], [secret], [secret]" {
		t.Errorf("got %q", got)
	}
}

// TestSilence ends a response when a server sends nothing for too long. Time that the
// reader takes does not count.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := make(pipes)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 2 {
				time.Sleep(9 * time.Minute)
				_, _ = io.WriteString(w, "data")
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		})}
		go func() { _ = server.Serve(network) }()
		transport := &http.Transport{DialContext: network.dial}
		res, err := provider.NewSender("http://host", &http.Client{Transport: transport}).Post(t.Context(), "a", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 4)
		for range 2 {
			if _, err := io.ReadFull(res.Body, p); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Hour)
		began := time.Now()
		if _, err := res.Body.Read(p); err != provider.ErrSilent || time.Since(began) != 10*time.Minute {
			t.Errorf("after %v, the error is %v", time.Since(began), err)
		}
		_ = res.Body.Close()
		transport.CloseIdleConnections()
		_ = server.Close()
	})
}

// pipes are the connections of a server without a network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
