package httpconn

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// sendOver sends a request over a route, and what is not plain through the pool. It
// returns what the caller of a route uses of the response.
func sendOver(p *Pool, r *http.Request) (said string, plain bool, err error) {
	over := p.Route(r, "Set-Cookie", "Location")
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return "", false, err
	}
	resp, err := over.Send(r.Context(), b.Bytes())
	if err != nil {
		return "", false, err
	}
	if resp.Body != nil {
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if n, again := resp.Body.Read(make([]byte, 1)); n > 0 || err == nil && again != io.EOF {
			return "", true, fmt.Errorf("after its end, the body has %d bytes: %v", n, again)
		}
		return fmt.Sprintf("%q %v %q", resp.Type, resp.Length, body), true, err
	}
	defer resp.Drop()
	said, err = sendAndSum(p, r.WithContext(resp.Answer(r.Context())))
	return said, false, err
}

// sendAndSum sends a request through a transport.
func sendAndSum(rt http.RoundTripper, r *http.Request) (string, error) {
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%q %v %q", resp.Header.Get("Content-Type"), resp.ContentLength, body), err
}

// sameOver checks that net/http reads a response as one that came over a route.
func sameOver(t testing.TB, url, response, got string, err error) {
	t.Helper()
	other := http.DefaultTransport.(*http.Transport).Clone()
	other.Proxy, other.DisableCompression, other.DisableKeepAlives = nil, true, true
	defer other.CloseIdleConnections()
	want, wantErr := sendAndSum(other, newRequest(t, "POST", url, "body"))
	if err == nil && wantErr != nil && strings.Contains(strings.ToLower(response), "chunked") {
		return // a trailer that is not read
	}
	if got != want || (err == nil) != (wantErr == nil) {
		t.Errorf("%q:\ngot  %s, %v\nwant %s, %v", response, got, err, want, wantErr)
	}
}

// plainResponses are read without net/http.
var plainResponses = map[string]bool{"length": true, "chunks": true, "accepted": true}

// Responses over a route are read as net/http reads them, plain or not, and what comes
// after one is never taken for the answer to the next request.
func TestRoute(t *testing.T) {
	for _, tt := range responses {
		if tt.method != "POST" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, func(n int, _ *http.Request) (string, bool) {
				if n == 1 {
					return tt.response, tt.after != ended
				}
				return good, true
			})
			_, p := newPool(t)
			got, plain, err := sendOver(p, newRequest(t, "POST", s.url, "body"))
			if plainResponses[tt.name] && !plain {
				t.Error("it is not plain")
			}
			other := newRawServer(t, func(int, *http.Request) (string, bool) { return tt.response, false })
			sameOver(t, other.url, tt.response, got, err)
			if got, _, err := sendOver(p, newRequest(t, "POST", s.url, "body")); err != nil || !strings.HasSuffix(got, `"good"`) {
				t.Errorf("the second request: %s, %v", got, err)
			}
			if again := s.opened.Load() == 1; again != (tt.after == kept) {
				t.Errorf("the connection is used again: %v", again)
			}
		})
	}
}

// A client gets a response with a header that it has to do something about, once, and
// sends the request that follows.
func TestRouteAnswers(t *testing.T) {
	s := newRawServer(t, func(n int, _ *http.Request) (string, bool) {
		if n == 1 {
			return "HTTP/1.1 307 Temporary Redirect\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", true
		}
		return "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nContent-Length: 4\r\n\r\ngood", true
	})
	transport, p := newPool(t)
	r := newRequest(t, "POST", s.url, "body")
	resp, err := p.Route(r, "Set-Cookie").Send(r.Context(), []byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"))
	if err != nil || resp.Body != nil {
		t.Fatalf("got %+v, %v", resp, err)
	}
	got, err := (&http.Client{Transport: transport}).Do(r.WithContext(resp.Answer(r.Context())))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if string(body) != "good" || err != nil || got.Request.URL.Path != "/next" || s.requests.Load() != 2 {
		t.Errorf("got %q, %v, from %v, after %d requests", body, err, got.Request.URL, s.requests.Load())
	}
	resp.Drop() // too late to do harm
	if got, err := send(p, newRequest(t, "POST", s.url, "body")); err != nil || s.opened.Load() != 1 {
		t.Errorf("got %s, %v on connection %d", got, err, s.opened.Load())
	}
}

func FuzzRoute(f *testing.F) {
	for _, tt := range responses {
		f.Add(tt.response)
	}
	f.Fuzz(func(t *testing.T, response string) {
		if len(response) > 4<<10 || strings.Contains(response, " 101") { // net/http hands on the connection after 101
			return
		}
		s := newRawServer(t, func(int, *http.Request) (string, bool) { return response, false })
		_, p := newPool(t)
		got, _, err := sendOver(p, newRequest(t, "POST", s.url, "body"))
		sameOver(t, s.url, response, got, err)
	})
}
