//go:build linux

package main

import (
	"fmt"
	"os"
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

// TestSessions leaves sessions open, and takes a profile.
func TestSessions(t *testing.T) {
	b := prepared(t, options{cells: "1KB,c1,2025,toolpost", sessions: 20, calls: 5, profile: t.TempDir()})
	var out strings.Builder
	if err := b.idle(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n| toolpost | 20 | 20 |") {
		t.Error(out.String())
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
			a.write([]byte(body[:n]))
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
