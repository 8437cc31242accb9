package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// A streamServer answers the handshake of a server with sessions in memory, and counts the
// streams that are asked for.
type streamServer struct {
	began time.Time
	asked []time.Duration // when streams were asked for
	get   func(n int) (status int, body io.Reader)
}

func (s *streamServer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	var body io.Reader = strings.NewReader("")
	switch r.Method {
	case http.MethodGet:
		s.asked = append(s.asked, time.Since(s.began).Round(time.Millisecond))
		resp.StatusCode, body = s.get(len(s.asked))
		resp.Header.Set("Content-Type", "text/event-stream")
	case http.MethodPost:
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch m.Method {
		case "initialize":
			resp.Header.Set("Mcp-Session-Id", "1")
			body = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID))
		case "server/discover":
			body = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID))
		case "subscriptions/listen":
			s.asked = append(s.asked, time.Since(s.began).Round(time.Millisecond))
			resp.StatusCode, body = s.get(len(s.asked))
			if resp.StatusCode == http.StatusOK {
				resp.Header.Set("Content-Type", "text/event-stream")
			}
		case "tools/list":
			body = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, oneTool))
		case "ping":
			body = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
		default:
			resp.StatusCode = http.StatusAccepted
		}
	}
	resp.Body = io.NopCloser(body)
	if c, ok := body.(io.ReadCloser); ok {
		resp.Body = c
	}
	return resp, nil
}

// lasts returns a stream that begins with a text and ends after a time.
func lasts(text string, d time.Duration) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, text)
		time.Sleep(d)
		w.Close()
	}()
	return r
}

// The stream of changes is asked for again, unless the server does not offer it, and
// soon if it lasted. The server cannot make the pauses long.
func TestStreamIsAskedForAgain(t *testing.T) {
	tests := map[string]struct {
		get  func(n int) (int, io.Reader)
		want []time.Duration // the first requests
	}{
		"503 at first": {func(n int) (int, io.Reader) {
			if n <= 2 {
				return 503, strings.NewReader("starting")
			}
			return 200, lasts("", time.Hour)
		}, []time.Duration{0, time.Second, 3 * time.Second}},
		"streams that a proxy ends": {func(int) (int, io.Reader) { return 200, lasts(": ok\n\n", time.Minute) },
			[]time.Duration{0, 61 * time.Second, 122 * time.Second, 183 * time.Second, 244 * time.Second, 305 * time.Second, 366 * time.Second}},
		"streams that end at once": {func(int) (int, io.Reader) { return 200, lasts(": ok\n\n", 0) },
			[]time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second, 47 * time.Second}},
		"a long retry": {func(int) (int, io.Reader) { return 200, lasts("retry: 3600000\n\n", 0) },
			[]time.Duration{0, 30 * time.Second, 60 * time.Second, 90 * time.Second}},
		"403 after a stream": {func(n int) (int, io.Reader) {
			if n == 1 {
				return 200, lasts("", time.Minute)
			}
			return 403, strings.NewReader("no")
		}, []time.Duration{0, 61 * time.Second, 62 * time.Second, 64 * time.Second, 68 * time.Second}},
		"502 after a stream": {func(n int) (int, io.Reader) {
			if n == 1 {
				return 200, lasts("", time.Minute)
			}
			return 502, strings.NewReader("no")
		}, []time.Duration{0, 61 * time.Second, 62 * time.Second, 64 * time.Second, 68 * time.Second, 76 * time.Second, 92 * time.Second, 122 * time.Second, 152 * time.Second, 182 * time.Second}},
		"the session of a proxy": {func(n int) (int, io.Reader) {
			if n == 1 {
				return 404, strings.NewReader("session not found")
			}
			return 200, lasts("", time.Hour)
		}, []time.Duration{0, time.Second}},
	}
	for _, status := range []int{400, 403, 404, 405, 406, 410, 415, 422, 501} {
		tests[fmt.Sprint(status)] = struct {
			get  func(n int) (int, io.Reader)
			want []time.Duration
		}{func(int) (int, io.Reader) { return status, strings.NewReader("no") }, []time.Duration{0}}
	}
	for _, status := range []int{401, 408, 409, 425, 429, 500, 502, 504} {
		tests[fmt.Sprint(status)] = struct {
			get  func(n int) (int, io.Reader)
			want []time.Duration
		}{func(int) (int, io.Reader) { return status, strings.NewReader("no") }, []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second, 63 * time.Second, 127 * time.Second, 255 * time.Second, 511 * time.Second, 811 * time.Second, 1111 * time.Second}}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &streamServer{began: time.Now(), get: test.get}
				u, err := upstream.Start(&upstream.Config{URL: "http://srv.example", Transport: upstream.HTTP, ProtocolVersion: "2025-11-25",
					Wrap: func(*http.Transport) http.RoundTripper { return srv }}, nil)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				if v := u.Status(); v.State != upstream.Ready || v.Connects != 1 {
					t.Errorf("status %+v", v)
				}
				u.Close()
				got := srv.asked[:min(len(srv.asked), len(test.want))]
				if fmt.Sprint(got) != fmt.Sprint(test.want) || len(test.want) < 3 && len(srv.asked) > len(test.want) {
					t.Errorf("asked at %v, want %v", srv.asked, test.want)
				}
			})
		})
	}
}

// The subscription of a server without sessions is made less and less often if the
// server refuses it.
func TestSubscriptionIsAskedForAgain(t *testing.T) {
	for _, status := range []int{401, 403, 429, 500, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &streamServer{began: time.Now(), get: func(int) (int, io.Reader) { return status, strings.NewReader("no") }}
				u, err := upstream.Start(&upstream.Config{URL: "http://srv.example", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28",
					Wrap: func(*http.Transport) http.RoundTripper { return srv }}, nil)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				u.Close()
				if n := len(srv.asked); n < 5 || n > 25 {
					t.Errorf("asked %d times in an hour, at %v", n, srv.asked)
				}
			})
		})
	}
}

// A server without sessions that made a subscription is asked again within half a minute,
// also if its proxy refuses that for long.
func TestSubscriptionIsMadeAgain(t *testing.T) {
	const agrees = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true}}}\n\n"
	for name, first := range map[string]func() io.Reader{
		"it agreed":         func() io.Reader { return lasts(agrees, time.Second) },
		"it did not say so": func() io.Reader { return lasts(": ok\n\n", time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &streamServer{began: time.Now(), get: func(n int) (int, io.Reader) {
					if n == 1 {
						return 200, first()
					}
					return 502, strings.NewReader("no")
				}}
				u, err := upstream.Start(&upstream.Config{URL: "http://srv.example", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28",
					Wrap: func(*http.Transport) http.RoundTripper { return srv }}, nil)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				u.Close()
				for i := 2; i < len(srv.asked); i++ {
					if pause := srv.asked[i] - srv.asked[i-1]; pause > 31*time.Second {
						t.Errorf("a pause of %v: asked at %v", pause, srv.asked)
					}
				}
				if len(srv.asked) < 15 {
					t.Errorf("asked at %v", srv.asked)
				}
			})
		})
	}
}
