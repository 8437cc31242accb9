package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// answering is a server over HTTP that answers each call with text, $ID being
// the call's.
func answering(t *testing.T, text string, events bool) *upstream.Config {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no such method"}}`
		switch m.Method {
		case "initialize":
			answer = `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"answering","version":"1"}}}`
		case "tools/list":
			answer = `{"jsonrpc":"2.0","id":$ID,"result":{` + oneTool + `}}`
		case "tools/call":
			answer = text
		}
		if len(m.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer = strings.ReplaceAll(answer, "$ID", string(m.ID))
		if events {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: message\nid: 1\ndata: %s\n\n", answer)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})
	return &upstream.Config{URL: serve(t, h).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-06-18"}
}

// ways are the connections over which a server answers.
func ways(t *testing.T, text string) map[string]*upstream.Config {
	file := filepath.Join(t.TempDir(), "answer")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]*upstream.Config{
		"stdio": child(t, "answer", "ANSWER", file), "JSON": answering(t, text, false), "events": answering(t, text, true),
	}
}

// A shelf keeps texts; each is shown as its number.
type shelf struct{ kept []string }

func (s *shelf) keep(_ context.Context, text io.Reader, _ int, _ bool) (view, ref string, err error) {
	data, err := io.ReadAll(text)
	s.kept = append(s.kept, string(data))
	return fmt.Sprint("view ", len(s.kept)), fmt.Sprint("ref", len(s.kept)), err
}

func TestLongTexts(t *testing.T) {
	lines := strings.Repeat("a \"line\" \\ of é😀\n", 10_000)
	tiny := "[" + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x"},`, 50_000), ",") + "]"
	var indented strings.Builder
	indented.WriteString("{\n\t\"content\": [" + strings.Repeat("\n\t\t{\n\t\t\t\"type\": \"text\",\n\t\t\t\"text\": \"x\"\n\t\t},", 50_000))
	escaped, _ := json.Marshal(lines)
	x := strings.Repeat("x", 100<<10)
	tests := map[string]struct {
		answer string
		want   string // the result
		kept   []string
	}{
		"a text": {
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":` + string(escaped) + `}],"isError":false}}`,
			`{"content":[{"type":"text","text":"view 1"}],"isError":false}`, []string{lines},
		},
		"id last": {
			`{"result":{"content":[{"type":"text","text":` + string(escaped) + `}]},"jsonrpc":"2.0","id":$ID}`,
			`{"content":[{"type":"text","text":"view 1"}]}`, []string{lines},
		},
		"texts and structured content": {
			`{"jsonrpc":"2.0","_meta":"` + x + `","id":$ID,"result":{"content":[{"type":"text","text":"` + x + `1"},{"type":"text","text":"short"},` +
				`{"type":"resource","resource":{"uri":"a:b","text":"` + x + `2"}}],"structuredContent":{"n":1.50,"text":"` + x + `3"}}}`,
			`{"content":[{"type":"text","text":"view 1"},{"type":"text","text":"short"},` +
				`{"type":"resource","resource":{"uri":"a:b","text":"view 2"}}],"structuredContent":{"n":1.50,"text":"view 3"}}`,
			[]string{x + "1", x + "2", x + "3"},
		},
		"what is no text": {
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"image","data":"` + x + `"}],"isError":true}}`,
			`{"content":[{"type":"text","text":"view 1"}],"isError":true}`,
			[]string{"{\n\t\"content\": [\n\t\t{\n\t\t\t\"type\": \"image\",\n\t\t\t\"data\": \"" + x + "\"\n\t\t}\n\t],\n\t\"isError\": true\n}"},
		},
		"white space": {
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]` + strings.Repeat(" ", 100<<10) + `}}`,
			`{"content":[{"type":"text","text":"view 1"}]}`,
			[]string{"{\n\t\"content\": []\n}"},
		},
		"a long name": {
			`{"jsonrpc":"2.0","id":$ID,"result":{"` + x + `":1,"content":[]}}`,
			`{"content":[{"type":"text","text":"view 1"}]}`,
			[]string{"{\n\t\"" + x + "\": 1,\n\t\"content\": []\n}"},
		},
		"many parts": {
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":` + tiny + `}}`,
			`{"content":[{"type":"text","text":"view 1"}]}`,
			[]string{strings.TrimSuffix(indented.String(), ",") + "\n\t]\n}"},
		},
	}
	for name, test := range tests {
		for way, cfg := range ways(t, test.answer) {
			cfg.MaxMessage = 64 << 10
			s := spooling(t, cfg, filepath.Join(t.TempDir(), "made when it is needed"))
			var shelf shelf
			r, err := s.call(hidden.WithKeep(t.Context(), shelf.keep), &toolpost.Call{Name: "t"})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, way, err)
			}
			if got, _ := r.MarshalJSON(); string(got) != test.want || r.OutputRef() != "ref1" {
				t.Errorf("%s, %s: got %.300s and the reference %q", name, way, got, r.OutputRef())
			}
			for i, want := range test.kept {
				if i >= len(shelf.kept) || shelf.kept[i] != want {
					t.Errorf("%s, %s: kept %.200q", name, way, shelf.kept)
				}
			}
		}
	}
}

func spooling(t *testing.T, cfg *upstream.Config, dir string) *server {
	t.Helper()
	u, err := upstream.Start(cfg, &upstream.Options{Spool: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return (&server{Upstream: u}).ready(t)
}

// What is too long, and nobody keeps, fails the call and no other.
func TestLongResultsNobodyKeeps(t *testing.T) {
	x := strings.Repeat("x", 100<<10)
	result := `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"` + x + `"}]}}`
	large := strings.Replace(result, x, strings.Repeat(x, 30), 1) // too long for buffers
	var shelf shelf
	failing := func(context.Context, io.Reader, int, bool) (string, string, error) {
		return "", "", errors.New("no place")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		answer, dir, want string
		keep              func(context.Context, io.Reader, int, bool) (string, string, error)
	}{
		"nobody keeps": {result, dir, "it has more than 65536 bytes; raise maxMessage", nil},
		"no folder":    {large, filepath.Join(file, "none"), "it cannot be kept in a file: not a directory", shelf.keep},
		"it fails":     {result, dir, "cannot be kept: no place", failing},
		"an error":     {`{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"` + x + `"}}`, dir, "it has more than 65536 bytes", shelf.keep},
		"two ids":      {`{"jsonrpc":"2.0","id":$ID,"id":7,"result":{"content":[{"type":"text","text":"` + x + `"}]}}`, dir, "it has more than 65536 bytes", shelf.keep},
		"and an error": {`{"jsonrpc":"2.0","id":$ID,"error":{},"result":{"content":[{"type":"text","text":"` + x + `"}]}}`, dir, "it has more than 65536 bytes", shelf.keep},
		"a number":     {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"n":` + strings.Repeat("1", 100<<10) + `}}`, dir, "it has more than 65536 bytes", shelf.keep},
		"no JSON":      {`{"jsonrpc":"2.0","id":$ID,"result":{"content":"` + x + `",]}}`, dir, "it has more than 65536 bytes", shelf.keep},
	}
	for name, test := range tests {
		for way, cfg := range ways(t, test.answer) {
			cfg.MaxMessage = 64 << 10
			s := spooling(t, cfg, test.dir)
			for range 2 {
				r, err := s.call(hidden.WithKeep(t.Context(), test.keep), &toolpost.Call{Name: "t"})
				if err != nil {
					t.Fatalf("%s, %s: %v", name, way, err)
				}
				if text, _ := r.FirstText(); !r.IsError() || !strings.Contains(text, test.want) || strings.Contains(text, dir) {
					t.Errorf("%s, %s: got %.300q", name, way, text)
				}
			}
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil || len(shelf.kept) > 0 {
		t.Errorf("left are %v, kept %d, error %v", left, len(shelf.kept), err)
	}
}

// A long list is read as a short one is.
func TestLongLists(t *testing.T) {
	for _, size := range []int{1, 100 << 10, 2 << 20} {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m message
				_ = json.NewDecoder(r.Body).Decode(&m)
				result := ""
				switch m.Method {
				case "initialize":
					result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"long","version":"1"}}`
				case "tools/list":
					result = `{` + oneTool + `,"x":"` + strings.Repeat("x", size) + `"}`
				default:
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", kind)
				answer := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
				if kind == "text/event-stream" {
					answer = "data: " + answer + "\n\n"
				}
				_, _ = io.WriteString(w, answer)
			})
			cfg := &upstream.Config{URL: serve(t, h).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-06-18"}
			if tools, err := spooling(t, cfg, t.TempDir()).Tools(t.Context()); len(tools) != 1 || err != nil {
				t.Errorf("%d bytes, %s: %d tools, %v", size, kind, len(tools), err)
			}
		}
	}
}

// A server whose answer has no end is not read on once nobody can use the answer.
func TestEndlessAnswer(t *testing.T) {
	part := strings.Repeat("x", 1<<20)
	written := make(chan int, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		switch _ = json.NewDecoder(r.Body).Decode(&m); {
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"endless","version":"1"}}}`, m.ID)
		case m.Method == "tools/list":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{`+oneTool+`}}`, m.ID)
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"x":"`, m.ID)
			n := 0
			for ; n < 200; n++ {
				if _, err := io.WriteString(w, part); err != nil {
					break
				}
			}
			written <- n
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	cfg := &upstream.Config{URL: serve(t, h).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-06-18", MaxMessage: 1 << 20}
	r, err := spooling(t, cfg, t.TempDir()).call(t.Context(), &toolpost.Call{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.FirstText(); !r.IsError() || !strings.Contains(text, "raise maxMessage") {
		t.Errorf("got %.300q", text)
	}
	if n := <-written; n == 200 {
		t.Error("all of the answer was read")
	}
}

// The end of an upstream whose lists are being read is no cause for a warning.
func TestCloseWhileListing(t *testing.T) {
	asked := make(chan struct{})
	var lists atomic.Int32
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case m.Method == "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"listing","version":"1"}}}`, m.ID)
		case m.Method == "tools/list" && lists.Add(1) == 2:
			close(asked)
			<-r.Context().Done()
		case m.Method == "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{`+oneTool+`}}`, m.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	logged := make(logChannel, 100)
	u, err := upstream.Start(&upstream.Config{URL: serve(t, h).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-06-18"}, &upstream.Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Error("it does not list again")
	}
	u.Close()
	close(logged)
	for line := range logged {
		if strings.Contains(line, "WARN") {
			t.Errorf("it logs %s", line)
		}
	}
}

// Up to the limit, what is not a text comes as it is, and so does all that nobody
// keeps.
func TestLongImage(t *testing.T) {
	result := `{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBO", 5<<20/4) + `"}]}`
	for way, cfg := range ways(t, `{"jsonrpc":"2.0","id":$ID,"result":`+result+`}`) {
		var shelf shelf
		s := spooling(t, cfg, t.TempDir())
		for _, keep := range []hidden.KeepFunc{shelf.keep, nil} {
			r, err := s.call(hidden.WithKeep(t.Context(), keep), &toolpost.Call{Name: "t"})
			if err != nil {
				t.Fatal(err)
			}
			if inMemory := hidden.EncodedOf(r).Long == nil; inMemory != (keep != nil) || r.IsError() {
				t.Errorf("%s: in memory %v", way, inMemory)
			}
			if got, _ := r.MarshalJSON(); string(got) != result || len(shelf.kept) > 0 || r.Parts()[0].Type != "image" {
				t.Errorf("%s: got %.300s, kept %.100q", way, got, shelf.kept)
			}
		}
	}
}

// A result stays in pieces from 64 KiB on if nobody keeps its text. Who does is
// offered a text from there on if it is nearly all of the result, and from 1 MiB
// on beside others; texts beside structured content come in memory until then.
func TestTextsOfAllSizes(t *testing.T) {
	structured := `,"structuredContent":{"rows":[` + strings.Repeat("1,", 1000) + `1]}`
	for _, tt := range []struct {
		size           int
		beside         string
		inPieces, kept bool
	}{
		{40 << 10, "", false, false}, {100 << 10, "", true, true}, {1000 << 10, "", true, true}, {1100 << 10, "", true, true},
		{100 << 10, structured, true, false}, {1100 << 10, structured, true, true},
	} {
		result := `{"content":[{"type":"text","text":"` + strings.Repeat("x", tt.size) + `"}]` + tt.beside + `}`
		for way, cfg := range ways(t, `{"jsonrpc":"2.0","id":$ID,"result":`+result+`}`) {
			s := spooling(t, cfg, t.TempDir())
			r, err := s.call(t.Context(), &toolpost.Call{Name: "t"})
			if err != nil {
				t.Fatal(err)
			}
			if inPieces := hidden.EncodedOf(r).Long != nil; inPieces != tt.inPieces {
				t.Errorf("%d bytes, %s: in pieces %v", tt.size, way, inPieces)
			}
			if got, _ := r.MarshalJSON(); string(got) != result {
				t.Errorf("%d bytes, %s: got %.300s", tt.size, way, got)
			}
			var shelf shelf
			if _, err = s.call(hidden.WithKeep(t.Context(), shelf.keep), &toolpost.Call{Name: "t"}); err != nil {
				t.Fatal(err)
			}
			if tt.kept != (len(shelf.kept) > 0) {
				t.Errorf("%d bytes, %s: kept %v", tt.size, way, len(shelf.kept) > 0)
			}
			within := func(context.Context, io.Reader, int, bool) (view, ref string, err error) { return "", "", nil }
			if r, err = s.call(hidden.WithKeep(t.Context(), within), &toolpost.Call{Name: "t"}); err != nil {
				t.Fatal(err)
			}
			if got, _ := r.MarshalJSON(); string(got) != result || r.OutputRef() != "" {
				t.Errorf("%d bytes, %s, within the limit: got %.300s", tt.size, way, got)
			}
		}
	}
}

// An event that names no endpoint, or a very long one, harms nobody.
func TestEndpointWithoutAddress(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "data: " + strings.Repeat("x", 5<<20) + "\n"} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\n"+data+"\n")
		})
		u, err := upstream.Start(&upstream.Config{URL: serve(t, h).URL, Transport: upstream.SSE}, &upstream.Options{Spool: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Ready(t.Context()); err == nil {
			t.Error("it is ready")
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
}
