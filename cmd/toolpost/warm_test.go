package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// TestWarmStart starts toolpost over ten servers: one refuses, one hangs, one has
// no command, and one is slow. Once their lists are stored, the next start
// serves all of them at once. The slow one starts only when the test lets it, so that
// what is served before did not wait for it.
//
// TOOLPOST_BINARY is the program that is started in place of this test,
// TOOLPOST_FIXTURE that of the servers, and TOOLPOST_SLOW how long the slow server
// takes then. Only with these are times demanded: those of an idle machine, with some
// slack.
func TestWarmStart(t *testing.T) {
	t.Parallel()
	w := newWarm(t)
	cold := w.serve(t, "--addr", "127.0.0.1:0")
	w.release(t)
	got := w.list(t, httpClient(t, cold.addr(t)))
	t.Logf("cold: the first list has %d tools after %v", len(got), cold.since())
	w.settle(t, 10, 7)
	cold.end(t)

	for _, over := range []string{"HTTP", "stdio"} {
		starts := w.starts(t)
		w.hold(t)
		var p *serving
		var c client
		if over == "HTTP" {
			p = w.serve(t, "--addr", "127.0.0.1:0")
			c = httpClient(t, p.addr(t))
		} else {
			p = w.serve(t, "--stdio")
			c = stdioClient(p)
		}
		got := w.list(t, c)
		w.within(t, over+": the complete list", p.since(), 50*time.Millisecond)
		if !slices.Equal(got, w.want) {
			t.Errorf("%s: got %d tools, want %d", over, len(got), len(w.want))
		}
		for _, name := range w.working {
			if text := w.call(t, c, name+"__show"); !strings.Contains(text, "text") {
				t.Errorf("%s: %s", name, text)
			}
		}
		w.within(t, over+": all working servers answered a call", p.since(), time.Second)
		for _, name := range []string{"refuses", "missing"} {
			if text := w.call(t, c, name+"__show"); !strings.Contains(text, "not available") {
				t.Errorf("%s: %s", name, text)
			}
		}
		w.release(t)
		if text := w.call(t, c, "slow__show"); !strings.Contains(text, `"{}"`) {
			t.Errorf("slow: %s", text)
		}
		w.within(t, over+": the slow server answered a call, later than its own start", p.since()-w.slow, 100*time.Millisecond)
		if n := w.starts(t) - starts; n != 1 {
			t.Errorf("%s: the slow server was started %d times", over, n)
		}
		if p.changes != 0 {
			t.Errorf("%s: the client was notified of %d changes, although every server lists the same", over, p.changes)
		}
		w.kill(t, c)
		p.end(t)
	}
}

// within reports a figure, and demands it if times are demanded.
func (w *warm) within(t *testing.T, what string, took, want time.Duration) {
	t.Helper()
	t.Logf("%s: %v (want %v)", what, took.Round(time.Millisecond/10), want)
	if slack := 5 * time.Second; w.slow > 0 && took > want+slack {
		t.Errorf("%s took %v, want %v", what, took, want)
	}
}

// A warm is a configuration of ten servers.
type warm struct {
	dir, home string
	counts    string        // the file that the slow server appends to
	pids      string        // the file to which the server that is killed appends
	gate      string        // the file that the slow server waits for, unless slow is given
	slow      time.Duration // how long the slow server takes; 0 if it waits for the file
	working   []string
	want      []string // the names of all tools
}

func newWarm(t *testing.T) *warm {
	dir := t.TempDir()
	w := &warm{dir: dir, home: filepath.Join(dir, "home"), counts: filepath.Join(dir, "counts"), pids: filepath.Join(dir, "pids"), gate: filepath.Join(dir, "gate")}
	until := w.gate
	if given := os.Getenv("TOOLPOST_SLOW"); given != "" {
		var err error
		if w.slow, err = time.ParseDuration(given); err != nil {
			t.Fatal(err)
		}
		until = given
	}
	server := os.Getenv("TOOLPOST_FIXTURE")
	if server == "" {
		var err error
		if server, err = exec.LookPath("fixture"); err != nil {
			t.Fatal(err)
		}
	}
	servers := map[string]any{
		"refuses": map[string]any{"url": "http://" + deafAddress(t) + "/mcp"},
		"hangs":   map[string]any{"command": server, "args": []string{"hangs"}},
		"missing": map[string]any{"command": filepath.Join(dir, "no-such-command")},
		"slow":    map[string]any{"command": server, "args": []string{"counted", w.counts, until}},
		"killed":  map[string]any{"command": server, "args": []string{"counted", w.pids, "0s"}},
	}
	for _, name := range []string{"one", "two", "three"} {
		servers[name] = map[string]any{"command": server}
	}
	for _, name := range []string{"web", "net"} {
		servers[name] = map[string]any{"url": webServer(t) + "/mcp"}
	}
	w.working = []string{"killed", "net", "one", "three", "two", "web"}
	for _, name := range append([]string{"slow"}, w.working...) {
		for _, tool := range []string{"show", "fail", "picture", "wait"} {
			w.want = append(w.want, name+"__"+tool)
		}
	}
	slices.Sort(w.want)
	w.want = append(w.want, "tool_output_cache", "tool_output_cache_grep")
	text, _ := json.Marshal(map[string]any{"mcpServers": servers})
	if err := os.WriteFile(filepath.Join(dir, "servers.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// hold makes the next slow server wait until release.
func (w *warm) hold(t *testing.T) {
	t.Helper()
	if err := os.Remove(w.gate); err != nil {
		t.Fatal(err)
	}
}

func (w *warm) release(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(w.gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// deafAddress returns an address that refuses connections until the test ends: that
// of a client, where no other program can listen.
func deafAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

// webServer returns the address of a server with the tools of fixture.
func webServer(t *testing.T) string {
	type none struct{}
	var tools toolpost.Tools
	for _, name := range []string{"show", "fail", "picture", "wait"} {
		tools = append(tools, toolpost.New(name, "A tool.", func(context.Context, none) (string, error) { return "text", nil }, nil))
	}
	s, err := mcpserver.New(t.Context(), tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = s.Close()
	})
	return web.URL
}

// A serving is a running toolpost.
type serving struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	log   *background
	began time.Time

	changes int // notifications that a list has changed, over stdio
}

// binary is the program that is tested.
func (w *warm) binary() string {
	if given := os.Getenv("TOOLPOST_BINARY"); given != "" {
		return given
	}
	return "toolpost"
}

func (w *warm) serve(t testing.TB, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), processTime)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.binary(), append([]string{"serve", "--config", filepath.Join(w.dir, "servers.json")}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "TOOLPOST_") }), "HOME="+w.home)
	log := &background{more: make(chan struct{}, 1)}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &serving{cmd: cmd, in: in, out: bufio.NewReader(out), log: log, began: time.Now()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return p
}

// addr waits for the address that p listens on.
func (p *serving) addr(t testing.TB) string {
	t.Helper()
	timeout := time.After(processTime)
	for {
		if m := servingLine.FindStringSubmatch(p.log.String()); m != nil {
			return m[1]
		}
		select {
		case <-p.log.more:
		case <-timeout:
			t.Fatalf("%v does not listen", p.cmd)
		}
	}
}

var servingLine = regexp.MustCompile(`msg=serving url=http://(127.0.0.1:[0-9]+)/mcp`)

// processTime is how long a program may run, so that one that hangs does not make the
// test hang.
const processTime = 3 * time.Minute

func (p *serving) since() time.Duration { return time.Since(p.began) }

func (p *serving) end(t testing.TB) {
	t.Helper()
	_ = p.in.Close()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	_ = p.cmd.Wait()
}

// A client sends a request and returns the result or error.
type client func(method, params string) json.RawMessage

func stdioClient(p *serving) client {
	id := 0
	return func(method, params string) json.RawMessage {
		id++
		fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			line, err := p.out.ReadBytes('\n')
			if err != nil {
				return nil
			}
			if bytes.Contains(line, []byte("list_changed")) {
				p.changes++
			}
			var m struct {
				ID            int
				Result, Error json.RawMessage
			}
			if json.Unmarshal(line, &m) == nil && m.ID == id {
				return append(m.Result, m.Error...)
			}
		}
	}
}

func httpClient(t testing.TB, addr string) client {
	session, id := "", 0
	web := &http.Client{Timeout: processTime, Transport: &http.Transport{DisableKeepAlives: true}}
	return func(method, params string) json.RawMessage {
		id++
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
		r, _ := http.NewRequest("POST", "http://"+addr+"/mcp", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if session != "" {
			r.Header["Mcp-Session-Id"] = []string{session}
		}
		answer, err := web.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer answer.Body.Close()
		data, _ := io.ReadAll(answer.Body)
		if session == "" {
			session = answer.Header.Get("Mcp-Session-Id")
		}
		for line := range bytes.Lines(data) {
			var m struct{ Result, Error json.RawMessage }
			if json.Unmarshal(bytes.TrimPrefix(line, []byte("data: ")), &m) == nil && m.Result != nil || m.Error != nil {
				return append(m.Result, m.Error...)
			}
		}
		return data
	}
}

// list opens a session and lists the tools.
func (w *warm) list(t testing.TB, c client) (names []string) {
	t.Helper()
	c("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	var list struct{ Tools []struct{ Name string } }
	result := c("tools/list", `{}`)
	if err := json.Unmarshal(result, &list); err != nil {
		t.Errorf("tools/list: %s", result)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (w *warm) call(t *testing.T, c client, tool string) string {
	t.Helper()
	return string(c("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)))
}

// settle waits until as many files are there as there are servers, and the lists of
// those that work are stored.
func (w *warm) settle(t testing.TB, servers, work int) {
	t.Helper()
	deadline := time.Now().Add(w.slow + 2*time.Minute)
	sizes := map[string]int64{}
	for len(sizes) != servers || len(slices.DeleteFunc(slices.Collect(maps.Values(sizes)), func(n int64) bool { return n < 700 })) != work {
		if time.Now().After(deadline) {
			t.Fatalf("the lists of %d servers are stored: %v", len(sizes), sizes)
		}
		time.Sleep(20 * time.Millisecond)
		found, _ := filepath.Glob(filepath.Join(w.home, ".cache", "toolpost", "catalog", "*.catalog"))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil {
				sizes[path] = info.Size()
			}
		}
	}
}

// starts returns how often the slow server was started.
func (w *warm) starts(t *testing.T) int { return len(w.lines(t, w.counts)) }

func (w *warm) lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// kill kills a server and measures how long the next call takes, beside its own
// start.
func (w *warm) kill(t *testing.T, c client) {
	t.Helper()
	fixture := exec.Command("fixture")
	in, _ := fixture.StdinPipe()
	out, err := fixture.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := fixture.Start(); err != nil {
		t.Fatal(err)
	}
	stdioClient(&serving{in: in, out: bufio.NewReader(out)})("initialize", `{}`)
	own := time.Since(began)
	_ = in.Close()
	_ = fixture.Wait()

	pids := w.lines(t, w.pids)
	pid, err := strconv.Atoi(pids[len(pids)-1])
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	text := w.call(t, c, "killed__show")
	for strings.Contains(text, "check before you call it again") && time.Since(began) < processTime {
		text = w.call(t, c, "killed__show") // the one before reached the process while it died
	}
	if !strings.Contains(text, `"{}"`) {
		t.Errorf("killed: %s", text)
	}
	w.within(t, fmt.Sprintf("a killed server answered a call, beside its own start of %v", own.Round(time.Millisecond)), time.Since(began)-own, 100*time.Millisecond)
}
