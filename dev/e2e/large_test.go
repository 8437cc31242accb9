package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
)

// largeResults are results that pass in pieces, and what clients with sessions
// get if that is something else.
func largeResults() (results, meta []string, sessions map[int]string) {
	const past = 1<<20 + 200<<10 // more than is loaded, in several pieces
	const unit = `0123456789abcdé😀\n\u00e9\\`
	text := func(size int) string {
		return strings.Repeat(unit, size/len(unit)) + strings.Repeat("x", size%len(unit))
	}
	pretty := "{\n  \"content\": [" + strings.Repeat("\n    {\r\n\t\"type\": \"text\", \"text\": \"a\" },", 35_000) + "\n    {} ] ,\n\n \"isError\" : true \n}\n"
	pretty = strings.TrimSuffix(pretty, "\n")
	add := func(result, m string) { results, meta = append(results, result), append(meta, m) }
	for more := range 3 { // the message has about 1 MiB
		add(`{"content":[{"type":"text","text":"`+text(1<<20-75+more*37)+`"}]}`, "")
	}
	add(`{"content":[{"type":"text","text":"`+text(past)+`"}],"isError":false,"x":[1e400,-0]}`, "")
	add(`{ "isError" : true , "_meta" : { "k" : 1 } , "content":[{"type":"text","text":"`+text(past)+`"},{"type":"resource_link","uri":"a:b","name":"n"}] }`, `{ "k" : 1 }`)
	add(`{"_meta":{},"content":[],"structuredContent":{"big":12345678901234567890,"t":"`+text(past)+`"},"resultType":"complete"}`, "{}")
	add(pretty, "")
	sessions = map[int]string{len(results): `{"content":[{"type":"text","text":"` + text(past) + `"}],"x":1}`}
	add(`{"content":[{"type":"text","text":"`+text(past)+`"}] , "structuredContent":[1],"x":1}`, "")
	return results, meta, sessions
}

// TestExactLargeBytes passes large results through the gateway, between every
// pair of protocol eras, and to clients over every transport. With the race detector,
// which looks at each byte, a client gets every fourth; "make live" runs all without it.
func TestExactLargeBytes(t *testing.T) {
	results, meta, sessions := largeResults()
	step, ways := 1, 0
	if raced {
		step = 4
	}
	for _, server := range []string{wire.LastSession, wire.Stateless} {
		spool := t.TempDir()
		s := newGateway(t, serveResults(t, append(results, results...)), server, spool)
		for _, client := range []string{wire.LastSession, wire.Stateless} {
			for _, way := range []string{"JSON", "events", "stdio", "SSE"} {
				if way == "SSE" && client == wire.Stateless {
					continue // it has no such transport
				}
				ways++
				t.Run(server+" to "+client+" over "+way, func(t *testing.T) {
					call := caller(t, s, client, way)
					for i, raw := range append(results, results...) { // as JSON, and as events
						n := i % len(results)
						if (i+n/4+ways)%step != 0 { // every result gets some ways
							continue
						}
						want := raw
						if client == wire.Stateless {
							want = completed(raw, meta[n])
						} else if sessions[n] != "" {
							want = sessions[n]
						}
						if way != "JSON" { // there, a carriage return would end a line
							want = strings.ReplaceAll(want, "\r", " ")
						}
						if way == "stdio" {
							want = strings.ReplaceAll(want, "\n", " ")
						}
						if i%2 == 1 { // events have no carriage returns
							want = strings.ReplaceAll(want, "\r", " ")
						}
						if got := call(i); got != want {
							at := 0
							for at < min(len(got), len(want)) && got[at] == want[at] {
								at++
							}
							t.Errorf("result %d: %d bytes, want %d; at %d: %.100q, want %.100q", i, len(got), len(want), at, got[at:], want[at:])
						}
					}
				})
			}
		}
		nothingLeft(t, spool)
	}
}

// newGateway returns a server of a gateway in front of one server.
func newGateway(t *testing.T, url, version, spool string) *mcpserver.Server {
	t.Helper()
	cfg, err := config.Parse("toolpost.json", []byte(fmt.Sprintf(`{"mcpServers":{"odd":{"url":%q,"protocolVersion":%q,"prefix":""}}}`, url, version)), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Spool: spool})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := mcpserver.New(t.Context(), g.Live(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		g.Close()
	})
	return s
}

// caller returns what calls the tool with a number, and returns the bytes of the
// result.
func caller(t *testing.T, s *mcpserver.Server, version, way string) func(n int) string {
	if way == "stdio" {
		return stdioCaller(t, s, version)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	if way == "SSE" {
		return sseCaller(t, h.URL)
	}
	c := newRawClient(t, h.URL+"/mcp", version)
	if c.accept = "application/json, text/event-stream"; way == "events" {
		c.accept = "text/event-stream"
	}
	return func(n int) string { return c.call(fmt.Sprintf(`"name":"odd","arguments":{"n":%d}`, n)) }
}

func callOf(n int, version string) string {
	meta := ""
	if version == wire.Stateless {
		meta = `,"_meta":{"` + wire.MetaVersion + `":"` + version + `","` + wire.MetaClientInfo + `":{"name":"raw","version":"1"},"` + wire.MetaCapabilities + `":{}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"odd","arguments":{"n":%d}%s}}`, n+2, n, meta) + "\n"
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + wire.LastSession + `","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}` + "\n"

// resultOf returns the result of the response to a call.
func resultOf(t *testing.T, response []byte) string {
	t.Helper()
	found := wire.Read(response)
	if len(found) != 1 || found[0].Result == nil {
		t.Fatalf("%.300q is not a result", response)
	}
	return string(found[0].Result)
}

func stdioCaller(t *testing.T, s *mcpserver.Server, version string) func(n int) string {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(context.Background(), in, out) }()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewReader(fromServer)
	ask := func(line string) []byte {
		if _, err := io.WriteString(toServer, line); err != nil {
			t.Fatal(err)
		}
		answer, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if version != wire.Stateless {
		ask(hello)
	}
	return func(n int) string { return resultOf(t, ask(callOf(n, version))) }
}

func sseCaller(t *testing.T, url string) func(n int) string {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	next := func() []byte {
		var data [][]byte
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			if len(line) == 1 && data != nil {
				return bytes.Join(data, []byte("\n"))
			}
			if text, ok := bytes.CutPrefix(line[:len(line)-1], []byte("data: ")); ok {
				data = append(data, text)
			}
		}
	}
	address := url + string(next()) // a path
	ask := func(message string) []byte {
		resp, err := http.Post(address, "application/json", strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return next()
	}
	ask(hello)
	return func(n int) string { return resultOf(t, ask(callOf(n, wire.LastSession))) }
}

// nothingLeft checks that the folder, and the open files of the process, have
// nothing of messages.
func nothingLeft(t *testing.T, folder string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		left = nil
		files, err := os.ReadDir(folder)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, f := range files {
			left = append(left, f.Name())
		}
		open, _ := os.ReadDir("/proc/self/fd") // of Linux
		for _, f := range open {
			if name, _ := os.Readlink(filepath.Join("/proc/self/fd", f.Name())); strings.Contains(name, "toolpost-message") {
				left = append(left, name)
			}
		}
		if left == nil {
			return
		}
	}
	t.Errorf("left are %q", left)
}

// A flood is a server whose tool returns a text of some MiB, and holds none of
// it. If cut is set, its answers end in the middle.
func flood(t *testing.T, mib int, cut bool) string {
	part := bytes.Repeat([]byte("0123456789abcde\\n"), 1<<20/17)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		found, _, fault := wire.Parse(body)
		if fault != nil || r.Method != http.MethodPost || !found[0].IsCall() {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch m := found[0]; m.Method {
		case "initialize":
			w.Write(wire.AppendResult(nil, m.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"flood","version":"1"}}`)))
		case "tools/list":
			w.Write(wire.AppendResult(nil, m.ID, []byte(`{"tools":[{"name":"odd","inputSchema":{"type":"object"}}]}`)))
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
			for i := range mib {
				if w.Write(part); cut && i == mib/2 {
					panic(http.ErrAbortHandler)
				}
			}
			io.WriteString(w, `"}]}}`)
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

// post calls the tool at a gateway without sessions, and returns the response.
func post(ctx context.Context, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", strings.NewReader(callOf(1, wire.Stateless)))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": wire.Stateless, "Mcp-Method": "tools/call", "Mcp-Name": "odd",
	} {
		r.Header.Set(name, value)
	}
	return http.DefaultClient.Do(r)
}

// nothingCollected turns the garbage collector off, which closes files that
// nobody closed.
func nothingCollected(t *testing.T) {
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

// Nothing holds a large result whole: many of 20 MiB allocate a fraction of that.
func TestLargeResultsInPieces(t *testing.T) {
	nothingCollected(t)
	spool := t.TempDir()
	h := httptest.NewServer(newGateway(t, flood(t, 20, false), wire.LastSession, spool))
	t.Cleanup(h.Close)
	const calls = 8
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			resp, err := post(t.Context(), h.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			// The response of a call that a busy machine takes long for has begun before its length is known.
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 19<<20 || resp.ContentLength >= 0 && n != resp.ContentLength {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / calls; each > 12<<20 { // 3 MiB, or 8 with -race, which throws buffers away
		t.Errorf("each of the calls allocated %d bytes", each)
	}
	nothingLeft(t, spool)
}

// A client that leaves in the middle of a result leaves nothing behind.
func TestClientLeavesInTheMiddle(t *testing.T) {
	nothingCollected(t)
	spool := t.TempDir()
	h := httptest.NewServer(newGateway(t, flood(t, 20, false), wire.LastSession, spool))
	t.Cleanup(h.Close)
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := post(ctx, h.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 100)); err != nil {
			t.Error(err)
		}
		cancel()
		resp.Body.Close()
	}
	nothingLeft(t, spool)
}

// A result that its server breaks off is an error, and no part of it is passed on.
func TestServerBreaksOff(t *testing.T) {
	nothingCollected(t)
	spool := t.TempDir()
	h := httptest.NewServer(newGateway(t, flood(t, 20, true), wire.LastSession, spool))
	t.Cleanup(h.Close)
	resp, err := post(t.Context(), h.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || len(body) > 2000 || !bytes.Contains(body, []byte("ended before the response arrived")) || !bytes.Contains(body, []byte(`"isError":true`)) {
		t.Errorf("%d bytes, %v: %.500s", len(body), err, body)
	}
	nothingLeft(t, spool)
}

// Without a folder for files, large results pass through memory.
func TestLargeResultsWithoutFolder(t *testing.T) {
	h := httptest.NewServer(newGateway(t, flood(t, 5, false), wire.LastSession, "/dev/null/none"))
	t.Cleanup(h.Close)
	resp, err := post(t.Context(), h.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) < 4<<20 || bytes.Contains(body[:1000], []byte("isError")) {
		t.Errorf("%d bytes, %v: %.500s", len(body), err, body)
	}
}
