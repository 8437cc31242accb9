//lint:file-ignore SA1019 older versions of the protocol have sampling

//go:build linux

package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "upstream" || os.Args[1] == "hostile") {
		main()
		return
	}
	os.Exit(m.Run())
}

// serveGateway serves a gateway of this process, and returns its address.
func serveGateway(t *testing.T, at *addresses) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("toolpost.json", configuration(self, at), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler), Dialect: "none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	s, err := mcpserver.New(t.Context(), g, &mcpserver.Options{Views: g.Views()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	front := httptest.NewServer(s)
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return front.URL + "/mcp"
}

// A few clients of every kind make a fixed number of calls, and servers are
// disturbed after fixed numbers of answers, so that a slow machine changes nothing.
func TestShortSoak(t *testing.T) {
	restarted, undisturbed := serveHTTP(false), serveHTTP(true)
	t.Cleanup(undisturbed.Close)
	t.Cleanup(restarted.Close)
	hostile := serveHostileHTTP()
	t.Cleanup(hostile.Close)
	url := serveGateway(t, &addresses{web: restarted.URL, steady: undisturbed.URL, hostile: hostile.URL})
	if err := awaitTools(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	tally := newTally()
	if err := askOnce(t.Context(), url, tally); err != nil {
		t.Fatal(err)
	}
	var disturbing sync.WaitGroup // not the client that got the answer
	l := &load{url: url, rounds: 2, calls: 8, patience: time.Hour, provoked: 50 * time.Millisecond, stuck: 50 * time.Millisecond, think: time.Millisecond, t: tally, answered: func(n int) {
		switch {
		case n%60 == 0:
			disturbing.Go(restarted.restart)
		case n%20 == 0:
			disturbing.Go(func() { killOne(os.Getpid(), tally) })
		}
	}}
	var clients sync.WaitGroup
	for i := range 20 {
		clients.Go(func() { runClient(t.Context(), l, i) })
	}
	clients.Wait()
	disturbing.Wait()
	for _, err := range tally.problems() {
		t.Error(err)
	}
	t.Log(tally.counts)
	for _, outcome := range []string{"answered", "list", "progress", "log message", "elicitation", "sampling", "vanished", "did not read", "sent slowly", "hostile call canceled"} {
		if tally.counts[outcome] == 0 {
			t.Errorf("%s: 0", outcome)
		}
	}
}

func TestWireCheck(t *testing.T) {
	own, foreign := prefixOf(1, 2), prefixOf(1, 3)
	for _, test := range []struct {
		text  string
		wrong int
	}{
		{own + "0 " + own + "1", 0},
		{"x" + foreign + "0", 1},
		{own + "0" + foreign + "0" + foreign + "1", 2},
		{mark + foreign, 1 + 1}, // what looks like a prefix and is none
		{foreign[:len(foreign)-1], 0},
	} {
		for size := 1; size <= len(test.text); size++ {
			tally := newTally()
			w := &wireCheck{prefix: own, t: tally}
			for rest := test.text; rest != ""; {
				n, err := io.WriteString(w, rest[:min(size, len(rest))])
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if tally.counts["wrong"] != test.wrong {
				t.Errorf("%q in pieces of %d: %d are wrong, want %d", test.text, size, tally.counts["wrong"], test.wrong)
			}
		}
	}
}

// What a gateway could do wrong is found.
func TestWrongAnswersAreFound(t *testing.T) {
	text := func(s string, isError bool) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}, IsError: isError}
	}
	elicited := func(s string) *mcp.ElicitResult { return &mcp.ElicitResult{Content: map[string]any{"answer": s}} }
	sampled := func(s string) *mcp.CreateMessageResult {
		return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: s}}
	}
	id := prefixOf(1, 2) + "3"
	for name, test := range map[string]struct {
		server string
		result *mcp.CallToolResult
		wrong  int
	}{
		"right":                {web, text(id, false), 0},
		"of another call":      {web, text(id+"0", false), 1},
		"empty":                {web, text("", false), 1},
		"without content":      {web, &mcp.CallToolResult{}, 1},
		"server away":          {web, text("away", true), 0},
		"undisturbed and away": {steady, text("away", true), 1},
		"refused question":     {own, text("multi-round-trip: "+refusedQuestion, true), 1},
		"right answers":        {own, checkAnswers(id, mcp.InputResponseMap{"elicit": elicited(id), "sample": sampled(id)}), 0},
		"other elicitation":    {own, checkAnswers(id, mcp.InputResponseMap{"elicit": elicited("x"), "sample": sampled(id)}), 1},
		"other sampling":       {own, checkAnswers(id, mcp.InputResponseMap{"elicit": elicited(id), "sample": sampled("x")}), 1},
		"no answers":           {own, checkAnswers(id, nil), 1},
	} {
		c := &client{load: &load{t: newTally()}, prefix: prefixOf(1, 2)}
		if c.check(test.server, id, test.result); c.t.counts["wrong"] != test.wrong {
			t.Errorf("%s: %d are wrong, want %d: %v", name, c.t.counts["wrong"], test.wrong, c.t.wrong)
		}
	}
	c := &client{load: &load{t: newTally()}, prefix: prefixOf(1, 2)}
	if c.mine("progress", id); c.t.counts["wrong"] != 0 {
		t.Error("an own notification is wrong")
	}
	if c.mine("progress", prefixOf(1, 3)+"3"); c.t.counts["wrong"] != 1 {
		t.Error("a notification of another connection is right")
	}
}

func TestJudge(t *testing.T) {
	series := func(of func(i int) float64) (all []sample) {
		for i := range 200 {
			all = append(all, sample{heap: 10, resident: 100, goroutines: of(i), descriptors: 300, processes: 20})
		}
		return all
	}
	for name, test := range map[string]struct {
		of   func(i int) float64
		want string
	}{
		"flat":      {func(int) float64 { return 1000 }, ""},
		"warming":   {func(i int) float64 { return min(1000, 30*float64(i)) }, ""},
		"peaks":     {func(i int) float64 { return 1000 + 9000*float64(i%5/4) }, ""},
		"falling":   {func(i int) float64 { return 3000 - 10*float64(i) }, ""},
		"growing":   {func(i int) float64 { return 500 + 10*float64(i) }, "goroutines: the median grows from 1250.0 to 2250.0; the limit is 1425.0"},
		"late leap": {func(i int) float64 { return 1000 + 500*float64(i/150) }, "goroutines: the median grows from 1000.0 to 1500.0; the limit is 1150.0"},
	} {
		if got := fmt.Sprint(judge(series(test.of))); strings.Trim(got, "[]") != test.want {
			t.Errorf("%s: %s, want %q", name, got, test.want)
		}
	}
	if judge(series(func(int) float64 { return 1 })[:49]) == nil {
		t.Error("few samples are judged")
	}
	r := &run{idle: sample{goroutines: 30}, after: sample{goroutines: 281}}
	if len(r.held()) != 1 {
		t.Error("goroutines that are left are not found")
	}
}
