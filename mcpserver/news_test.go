package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// A heardSession is a session over stdio whose lines are all kept. It must be made
// in a bubble of synctest.
type heardSession struct {
	in    io.Writer
	mu    sync.Mutex
	lines []string
}

func hear(t *testing.T, s *mcpserver.Server) *heardSession {
	t.Helper()
	in, input := io.Pipe()
	output, out := io.Pipe()
	h := &heardSession{in: input}
	done := make(chan error, 1)
	go func() {
		done <- s.ServeStdio(t.Context(), in, out)
		out.Close()
	}()
	go func() {
		for lines := bufio.NewReader(output); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			h.mu.Lock()
			h.lines = append(h.lines, line)
			h.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		input.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return h
}

// send sends a message and returns what has come an hour later: notifications by
// their names, and responses whole.
func (h *heardSession) send(t *testing.T, message string) (got []string) {
	t.Helper()
	if _, err := io.WriteString(h.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
	return h.later()
}

func (h *heardSession) later() (got []string) {
	time.Sleep(time.Hour)
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		if _, name, is := strings.Cut(line, `"method":"notifications/`); is {
			line, _, _ = strings.Cut(name, `"`)
		}
		got = append(got, line)
	}
	h.lines = nil
	return got
}

func (h *heardSession) wants(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("%s: got %.200q, want %q", what, got, want)
	}
}

const listToolsRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// What changes before the client has its first answer, or while the list is on its
// way, is no news: the client has read nothing that is out of date.
func TestNoNewsBeforeTheFirstAnswers(t *testing.T) {
	for _, begins := range []string{"initialize", "tools/list"} {
		t.Run(begins, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := textTool("a", "x"), textTool("b", "x")
				ts := &source{tools: []*toolpost.Tool{a}, ready: make(chan struct{})}
				s := newServerOf(t, nil, ts)
				h := hear(t, s)
				go func() {
					wait := 500 * time.Millisecond
					if begins == "tools/list" { // initialize has been answered by then
						wait = time.Hour + 3*time.Second
					}
					time.Sleep(wait)
					ts.set(t, a, b)
					time.Sleep(wait % time.Hour / 10)
					close(ts.ready)
				}()
				h.wants(t, "initialize", h.send(t, initialize), `"result"`)
				h.wants(t, "the first list", h.send(t, listToolsRequest), `{"name":"b",`)
				ts.set(t, a)
				h.wants(t, "a change", h.later(), "tools/list_changed")
			})
		})
	}
}

// Views are reviewed whenever a server gets another status, so also while a new
// client's view is made.
func TestNoNewsOfTheFirstView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := &source{tools: []*toolpost.Tool{textTool("a", "x")}}
		live, err := toolpost.NewLive(t.Context(), ts)
		if err != nil {
			t.Fatal(err)
		}
		var made atomic.Bool
		views := &hooks{}
		views.view = func(observe.Client) (*toolpost.Live, error) {
			if made.CompareAndSwap(false, true) {
				views.changed()
				time.Sleep(time.Second)
			}
			return live, nil
		}
		s := newServerOf(t, &mcpserver.Options{Views: views}, &source{})
		h := hear(t, s)
		h.wants(t, "initialize", h.send(t, initialize), `"result"`)
		views.changed()
		h.wants(t, "a view that stays", h.later())
		ts.set(t, textTool("b", "x"))
		h.wants(t, "a change", h.later(), "tools/list_changed")
	})
}

// Only other bytes are news.
func TestNewsAreOtherBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := textTool("a", "x"), textTool("b", "x")
		s, ts := newServer(t, nil, a)
		h := hear(t, s)
		h.wants(t, "initialize", h.send(t, initialize), `"result"`)
		h.wants(t, "the first list", h.send(t, listToolsRequest), `{"name":"a",`)
		ts.set(t, a, b)
		ts.set(t, textTool("a", "x"))
		h.wants(t, "a change that is undone", h.later())
		ts.SetFeatures(&toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "p"}}})
		h.wants(t, "another prompt", h.later(), "prompts/list_changed")
		ts.SetFeatures(&toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "p"}}, Resources: []*toolpost.Resource{{URI: "x://{y}", Template: true}}})
		h.wants(t, "another template", h.later(), "resources/list_changed")
	})
}

// A client that reads a list in pages is notified if the first pages have changed
// meanwhile.
func TestNewsBetweenPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := make([]*toolpost.Tool, 1001)
		for i := range many {
			many[i] = textTool(fmt.Sprint("t", 10_000+i), "x")
		}
		s, ts := newServer(t, nil, many...)
		h := hear(t, s)
		h.wants(t, "initialize", h.send(t, initialize), `"result"`)
		first := h.send(t, listToolsRequest)
		h.wants(t, "the first page", first, `"nextCursor":"`)
		_, cursor, _ := strings.Cut(strings.Join(first, ""), `"nextCursor":"`)
		cursor, _, _ = strings.Cut(cursor, `"`)
		changed := slices.Clone(many)
		changed[0] = textTool("t10000", "x")
		changed[0].Description = "another one"
		ts.set(t, changed...)
		second := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + cursor + `"}}`
		h.wants(t, "the second page", h.send(t, second), `{"name":"t11000"`, "tools/list_changed")
	})
}
