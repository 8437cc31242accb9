package tooltest_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/tooltest"
)

// A watchedTest is a test that ends when end is called.
type watchedTest struct {
	verdict
	cleanups []func()
}

func (w *watchedTest) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }
func (w *watchedTest) Failed() bool     { return len(w.errors) > 0 }
func (w *watchedTest) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
}

// traffic runs a test with a transport, and returns what it reports.
func traffic(t *testing.T, file string, opts *tooltest.TrafficOptions, run func(*http.Client)) []string {
	w := &watchedTest{verdict: verdict{TB: t}}
	client := &http.Client{Transport: tooltest.Traffic(w, file, opts)}
	if run != nil {
		run(client)
	}
	for _, f := range w.cleanups {
		f()
	}
	return w.errors
}

// send sends a request and returns its status and body.
func send(c *http.Client, method, address, body string, header ...string) (string, error) {
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if body == "" {
		r.Body = nil
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s %s", response.StatusCode, response.Header.Get("Content-Type"), data), err
}

// echo answers with everything that it was sent, as a server that helps too much
// would, in the form that the path names.
func echo(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all := fmt.Sprintf("%s %v %s", r.URL, r.Header, body)
		w.Header().Set("Retry-After", "1; "+r.Header.Get("X-Api-Key"))
		w.Header().Set("Set-Cookie", "session="+r.Header.Get("X-Api-Key"))
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "{ \"echo\": %q,\n \"tokens\" : 3 }", all)
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 3 {
				fmt.Fprintf(w, "event: e\ndata: {\"n\": %d, \"echo\": %q}\n\n", i, all)
				_ = http.NewResponseController(w).Flush()
			}
			fmt.Fprintf(w, "data: broken %s\n\n", all)
		case "/binary":
			_, _ = w.Write([]byte("\xff\x00" + all))
		case "/gzip":
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte("compressed"))
		default:
			fmt.Fprint(w, "accepts ", r.Header.Get("Accept-Encoding"))
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestTrafficSecrets sends a key in every place, to a server that repeats all of
// it: the key is nowhere in the file, in any form, and the file can be replayed
// with another key.
func TestTrafficSecrets(t *testing.T) {
	server := echo(t)
	file := filepath.Join(t.TempDir(), "testdata", "traffic.jsonl")
	keys := func(n int) []string {
		var all []string
		for _, place := range []string{"header", "bearer", "basic", "query", "value", "member"} {
			all = append(all, fmt.Sprintf("k3y/of+%s&\"t4il%d\"", place, n))
		}
		return append(all, fmt.Sprintf("sk-ant-%drecognized", n))
	}
	run := func(n int) func(*http.Client) {
		return func(c *http.Client) {
			k := keys(n)
			for _, path := range []string{"/json", "/stream", "/binary"} {
				address := server.URL + path + "?alt=sse&key=" + url.QueryEscape(k[3])
				body := fmt.Sprintf(`{"model": "m", "api_key": %q, "text": "say %s and %s", "n": 1.0}`, k[5], strings.ReplaceAll(k[4], `"`, `\"`), k[6])
				for _, authorization := range []string{"Bearer " + k[1], "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+k[2]))} {
					got, err := send(c, "POST", address, body, "X-Api-Key", k[0], "Authorization", authorization, "Content-Type", "application/json")
					if err != nil || !strings.HasPrefix(got, "200 ") {
						t.Errorf("%s: got %q, %v", path, got, err)
					}
				}
			}
		}
	}
	t.Setenv("TOOLPOST_RECORD", "1")
	if errors := traffic(t, file, &tooltest.TrafficOptions{Secrets: keys(1)[4:5]}, run(1)); errors != nil {
		t.Fatalf("record: %q", errors)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, encoded := range regexp.MustCompile(`"body_base64":"([^"]*)"`).FindAllSubmatch(data, -1) {
		decoded, err := base64.StdEncoding.DecodeString(string(encoded[1]))
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, decoded...)
	}
	for _, key := range keys(1) {
		for _, form := range []string{key, url.QueryEscape(key), url.PathEscape(key), strings.Trim(fmt.Sprintf("%q", key), `"`), base64.StdEncoding.EncodeToString([]byte("ada:" + key))} {
			if strings.Contains(string(data), form) {
				t.Errorf("the file contains %s", form)
			}
		}
	}
	for _, gone := range []string{"k3y", "t4il", "recognized", "Set-Cookie"} {
		if i := strings.Index(string(data), gone); i >= 0 {
			t.Errorf("the file contains %q: %s", gone, data[max(0, i-40):min(len(data), i+60)])
		}
	}
	for _, want := range []string{`alt=sse`, `data: {\"n\":2`, `\"n\":1.0`, "text/event-stream", "[secret]"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the file lacks %s", want)
		}
	}
	server.Close()
	t.Setenv("TOOLPOST_RECORD", "")
	if errors := traffic(t, file, &tooltest.TrafficOptions{Secrets: keys(2)[4:5]}, run(2)); errors != nil {
		t.Errorf("replay: %q", errors)
	}
}

// TestTrafficReplay replays to the byte what has no secrets, in the order of the
// requests, each once.
func TestTrafficReplay(t *testing.T) {
	server := echo(t)
	file := filepath.Join(t.TempDir(), "traffic.jsonl")
	run := func(seen *[]string) func(*http.Client) {
		return func(c *http.Client) {
			for _, path := range []string{"/json", "/stream", "/plain", "/json", "/binary"} {
				got, err := send(c, "POST", server.URL+path, `{ "a" : 1 }`)
				if err != nil {
					t.Error(err)
				}
				*seen = append(*seen, got)
			}
		}
	}
	var live, replayed []string
	t.Setenv("TOOLPOST_RECORD", "1")
	if errors := traffic(t, file, nil, run(&live)); errors != nil {
		t.Fatalf("record: %q", errors)
	}
	server.Close()
	t.Setenv("TOOLPOST_RECORD", "")
	if errors := traffic(t, file, nil, run(&replayed)); errors != nil {
		t.Fatalf("replay: %q", errors)
	}
	for i := range live {
		if live[i] != replayed[i] {
			t.Errorf("request %d: live %q, replayed %q", i, live[i], replayed[i])
		}
	}
	if live[2] != "200 text/plain; charset=utf-8 accepts gzip" {
		t.Errorf("the encoding was not chosen by the transport: %q", live[2])
	}
}

func TestTrafficErrors(t *testing.T) {
	server := echo(t)
	file := filepath.Join(t.TempDir(), "traffic.jsonl")
	wrong := func(want, method, path, body string) func(*http.Client) {
		return func(c *http.Client) {
			if got, err := send(c, method, server.URL+path, body); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: got %q, %v; want %q", method, path, got, err, want)
			}
		}
	}
	right := func(c *http.Client) {
		if _, err := send(c, "POST", server.URL+"/json", `{"a":1}`); err != nil {
			t.Error(err)
		}
	}
	none := "no recording of POST " + server.URL + "/json?key=%5Bsecret%5D in " + file + "; set TOOLPOST_RECORD=1 and run the test again"
	if errors := traffic(t, file, nil, wrong(none, "POST", "/json?key=abcdefgh", `{"a":1}`)); errors != nil {
		t.Errorf("no file: %q", errors)
	}
	t.Setenv("TOOLPOST_RECORD", "1")
	w := &watchedTest{verdict: verdict{TB: t}}
	right(&http.Client{Transport: tooltest.Traffic(w, file, nil)})
	w.Errorf("the test fails")
	for _, f := range w.cleanups {
		f()
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a failed test has written the file: %v", err)
	}
	if errors := traffic(t, file, nil, func(c *http.Client) { _, _ = send(c, "GET", server.URL+"/gzip", "") }); len(errors) != 1 || !strings.Contains(errors[0], "has the encoding") {
		t.Errorf("compressed: got %q", errors)
	}
	if errors := traffic(t, file, nil, right); errors != nil {
		t.Fatalf("record: %q", errors)
	}
	t.Setenv("TOOLPOST_RECORD", "")
	for _, c := range []struct{ want, method, path, body string }{
		{"differs in its body:\nsent:     {\"a\":2}\nrecorded: {\"a\":1}", "POST", "/json", `{"a":2}`},
		{"no recording of PUT", "PUT", "/json", `{"a":1}`},
		{"no recording of POST", "POST", "/other", `{"a":1}`},
	} {
		errors := traffic(t, file, nil, wrong(c.want, c.method, c.path, c.body))
		if len(errors) != 1 || !strings.Contains(errors[0], "1 recorded requests in "+file+" were not sent; set TOOLPOST_RECORD=1") {
			t.Errorf("not sent: got %q", errors)
		}
	}
	if errors := traffic(t, file, nil, func(c *http.Client) { right(c); wrong("no recording", "POST", "/json", `{"a":1}`)(c) }); errors != nil {
		t.Errorf("twice: got %q", errors)
	}
	if err := os.WriteFile(file, []byte("{}\nnonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if errors := traffic(t, file, nil, nil); len(errors) == 0 || !strings.Contains(errors[0], "exchange 2: ") {
		t.Errorf("a broken file: got %q", errors)
	}
}

// TestTrafficStream: a stream arrives while it is recorded, and one that the test
// does not read to its end is recorded as far as it was read.
func TestTrafficStream(t *testing.T) {
	proceed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: 1\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-proceed:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "data: 2\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "traffic.jsonl")
	run := func(c *http.Client) {
		response, err := c.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(response.Body)
		for i := 1; i <= 2 && lines.Scan(); i++ {
			if lines.Text() != fmt.Sprintf("data: %d", i) {
				t.Errorf("got %q", lines.Text())
			}
			if i == 1 && os.Getenv("TOOLPOST_RECORD") != "" {
				close(proceed)
			}
		}
		_ = response.Body.Close()
	}
	t.Setenv("TOOLPOST_RECORD", "1")
	if errors := traffic(t, file, nil, run); errors != nil {
		t.Fatalf("record: %q", errors)
	}
	t.Setenv("TOOLPOST_RECORD", "")
	if errors := traffic(t, file, nil, run); errors != nil {
		t.Fatalf("replay: %q", errors)
	}
}
