//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain also serves as the processes that a bench starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-role" {
		main()
		return
	}
	os.Exit(m.Run())
}

func prepared(t *testing.T, o options) *bench {
	t.Helper()
	o.root, o.rounds, o.duration = "../../..", 1, time.Minute
	b, err := newBench(t.Context(), &o)
	t.Cleanup(b.close)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCells makes 50 calls with each subject. Every answer is checked.
func TestCells(t *testing.T) {
	for _, sdk := range []bool{false, true} {
		b := prepared(t, options{cells: "1KB,64KB,c1", calls: 50, sdk: sdk})
		for _, c := range b.choice.cells() {
			results, err := b.measure(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			want := "direct http, proxy http, naive http, naive stdio, toolpost http, toolpost stdio"
			if c.size.bytes > outputLimit {
				want = "direct http, proxy http, naive http, naive stdio, toolpost http, toolpost-whole http, toolpost stdio, toolpost-whole stdio"
			}
			var got []string
			for _, r := range results {
				got = append(got, r.Subject+" "+r.Upstream)
				if r.Error != "" || len(r.Rounds) != 1 || r.Rounds[0].Calls != 50 || r.Rounds[0].Failures != 0 {
					t.Errorf("%s %s %s: %s %+v", c, r.Subject, r.Upstream, r.Error, r.Rounds)
				}
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s: subjects %s; want %s", c, strings.Join(got, ", "), want)
			}
		}
	}
}

// TestLooks looks into a build: it leaves sessions open, counts what a call costs, and
// takes a profile.
func TestLooks(t *testing.T) {
	b := prepared(t, options{cells: "1KB,c1,2025,toolpost", sessions: 20, calls: 5, profile: t.TempDir(), costs: "costs.txt"})
	var out strings.Builder
	if err := b.idle(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n| toolpost | 20 | 20 |") {
		t.Error(out.String())
	}
	if err := b.checkCosts(t.Context(), t.Output()); err != nil {
		t.Error(err)
	}
	b.duration = time.Second
	if _, err := b.measure(t.Context(), b.choice.cells()[0]); err != nil {
		t.Fatal(err)
	}
	for _, upstream := range []string{"http", "stdio"} {
		file := b.profile + "/1KB-c1-2025-11-25-toolpost-" + upstream + ".pprof"
		if s, err := os.Stat(file); err != nil || s.Size() == 0 {
			t.Errorf("no profile in %s: %v", file, err)
		}
	}
}

// TestWant lets only right answers pass.
func TestWant(t *testing.T) {
	const size = 10_000
	text := string(encodedText(size))
	answerOf := func(format string, text string) *answer {
		a := &answer{}
		body := fmt.Sprintf(format, text)
		for len(body) > 0 { // in pieces, as it comes
			n := min(len(body), 777)
			_, _ = a.Write([]byte(body[:n]))
			body = body[n:]
		}
		return a
	}
	const (
		right = `{"jsonrpc":"2.0","id":100000007,"result":{"content":[{"type":"text","text":"%s"}]}}`
		id    = "100000007"
	)
	whole, excerpt := newWant(size, false), newWant(size, true)
	reference := strings.Replace(right, `}]}}`, `}],"_meta":{"toolpost/output_ref":"x"}}}`, 1)
	for _, c := range []struct {
		name string
		want *want
		a    *answer
		id   string
		ok   bool
	}{
		{"right", whole, answerOf(right, text), id, true},
		{"in an event", whole, answerOf("event: message\nid: 1\ndata: "+right+"\n\n", text), id, true},
		{"another id", whole, answerOf(right, text), "100000008", false},
		{"a byte less", whole, answerOf(right, text[:size/2]+text[size/2+1:]), id, false},
		{"a byte more", whole, answerOf(right, text[:size/2]+"x"+text[size/2:]), id, false},
		{"cut off", whole, answerOf(right, text[:size/2]), id, false},
		{"an error", whole, answerOf(`{"jsonrpc":"2.0","id":100000007,"error":{"code":1,"message":"%s"}}`, ""), id, false},
		{"a tool's error", whole, answerOf(strings.Replace(right, `}]`, `}],"isError":true`, 1), text), id, false},
		{"an excerpt", excerpt, answerOf(reference, text[:size/2]), id, true},
		{"an excerpt without reference", excerpt, answerOf(right, text[:size/2]), id, false},
		{"whole instead of an excerpt", excerpt, answerOf(reference, text), id, false},
	} {
		if err := c.want.check(c.a, []byte(c.id)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestChoice selects cells by words.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		words string
		cells int
	}{
		{"", 14}, {"1KB", 4}, {"1KB,c32", 2}, {"1KB c32 2025 toolpost", 1}, {"20MiB", 2}, {"20MiB,c1,c32", 4}, {"stdio", 14},
	} {
		chosen, err := parseChoice(c.words, []string{"toolpost"})
		if err != nil || len(chosen.cells()) != c.cells {
			t.Errorf("%q: %v, %v; want %d", c.words, chosen.cells(), err, c.cells)
		}
	}
	if _, err := parseChoice("2KB", nil); err == nil {
		t.Error("an unknown word is accepted")
	}
}

// TestReport prints medians, ratios of each round, and failures.
func TestReport(t *testing.T) {
	loads := func(rates ...float64) []*load {
		var all []*load
		for _, r := range rates {
			all = append(all, &load{Calls: 1, Rate: r, CPU: time.Duration(1e9 / r), P50: time.Millisecond, P99: 12340 * time.Microsecond, Peak: 20})
		}
		return all
	}
	of := func(subject string, l []*load) *result {
		return &result{Size: "1KB", Clients: 1, Era: sessionEra, Subject: subject, Upstream: "http", Rounds: l, Rest: 15}
	}
	slow := of("slow", loads(100, 50, 10))
	slow.Rounds[2] = nil
	slow.fail(errors.New("gone | away\nsecond line"))
	never := of("never", nil)
	never.fail(errors.New("did not start"))
	var out strings.Builder
	(&report{}).add(&out, []*result{of("direct", loads(400, 400, 400)), of("proxy", loads(200, 200, 100)), slow, never})
	const want = "| 1KB | 1 | 2025-11-25 | direct | http | 400 | 1.00 / 12.3 |  | 1 | **2.00** (2.00–4.00) |  |  |\n" +
		"| 1KB | 1 | 2025-11-25 | proxy | http | 200 | 1.00 / 12.3 | 5000 | **0.50** (0.25–0.50) | 1 | 1 | 20 / 15 |\n" +
		"| 1KB | 1 | 2025-11-25 | slow | http | 75.0 | 1.00 / 12.3 | 15000 | **0.19** (0.12–0.25) | **0.38** (0.25–0.50) | **3.00** (2.00–4.00) | 20 / 15 | <!-- 0 calls failed, 2 of 3 rounds: gone / away -->\n" +
		"| 1KB | 1 | 2025-11-25 | never | http | not measured: did not start | | | | | | |\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}

	file := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(file, []byte("before\n<!-- begin of x -->\nold\n<!-- end of x -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceTable(file, "x", "new\n"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if want := "before\n<!-- begin of x -->\n\nnew\n\n<!-- end of x -->\nafter\n"; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
}

// TestAims shows both eras beside an aim, and what misses it.
func TestAims(t *testing.T) {
	of := func(subject, upstream, era string, cpu time.Duration) *result {
		return &result{Size: "1KB", Clients: 32, Era: era, Subject: subject, Upstream: upstream, Rounds: []*load{{Rate: 1e6 / float64(cpu), CPU: cpu}, nil}, Rest: 40}
	}
	var out strings.Builder
	writeAims(&out, []*result{
		of("proxy", "http", sessionEra, 100), of("proxy", "http", statelessEra, 100),
		of("toolpost", "http", sessionEra, 70), of("toolpost", "http", statelessEra, 95), of("toolpost", "stdio", statelessEra, 45),
	})
	for _, want := range []string{
		"| 1 KB, 32 clients: CPU ÷ proxy | at most 0.8 HTTP, 0.45 stdio | 0.70 / **0.95** | – / 0.45 |\n",
		"| 1 KB, 32 clients: rate ÷ proxy | at least 1.1 HTTP, 1.5 stdio | 1.43 / **1.05** | – / 2.22 |\n",
		"| 1 MB stored, clients: 1: CPU ÷ proxy | at most 1.5 | – / – | – / – |\n",
		"| 1 KB, 32 clients: MiB after the calls | at most 36 | **40.0** / **40.0** | – / **40.0** |\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%swant\n%s", out.String(), want)
		}
	}
}
