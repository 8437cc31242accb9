package redminetest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplay: reads are answered as after the same changes, in any order and any
// number; what was not recorded has no answer.
func TestReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tape.jsonl")
	const tape = `{"request":"GET /a.json","status":200,"answer":"a1"}
{"request":"GET /b.json","status":200,"answer":"b1"}
{"as":"bob","request":"GET /a.json","status":200,"answer":"bob's"}
{"request":"PUT /a.json","body":"2","status":200,"answer":"put"}
{"request":"GET /a.json","status":200,"answer":"a2"}
{"request":"PUT /a.json","body":"3","status":200,"answer":"put"}
{"request":"GET /c.json","status":200,"answer":"c3"}
{"request":"GET /a.json","status":200,"answer":"a3"}
`
	if err := os.WriteFile(file, []byte(tape), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Replay(t, file)
	ask := func(as, method, path, body string) string {
		t.Helper()
		req, err := http.NewRequest(method, "http://redmine"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.As(as).RoundTrip(req)
		if err != nil {
			return "astray"
		}
		data, _ := io.ReadAll(resp.Body)
		return string(data)
	}
	for _, c := range []struct{ as, method, path, body, want string }{
		{"", "GET", "/b.json", "", "b1"},
		{"", "GET", "/a.json", "", "a1"},
		{"", "GET", "/a.json", "", "a1"}, // once more than recorded
		{"bob", "GET", "/a.json", "", "bob's"},
		{"", "GET", "/c.json", "", "c3"}, // only recorded later
		{"", "PUT", "/a.json", "2", "put"},
		{"", "GET", "/b.json", "", "b1"}, // only recorded before
		{"", "GET", "/a.json", "", "a2"},
		{"", "PUT", "/a.json", "3", "put"},
		{"", "GET", "/a.json", "", "a3"},
		{"", "PUT", "/a.json", "3", "astray"}, // a change is not made twice
		{"", "GET", "/b.json", "", "astray"},  // and nothing is right after it
	} {
		if got := ask(c.as, c.method, c.path, c.body); got != c.want {
			t.Errorf("%q %s %s %s: %q, want %q", c.as, c.method, c.path, c.body, got, c.want)
		}
	}
}
