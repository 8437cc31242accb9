package grep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/internal/grep"
)

func compile(t testing.TB, pattern string) *grep.Pattern {
	t.Helper()
	p, err := grep.Compile(pattern, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ways searches data in every way.
func ways(t testing.TB, p *grep.Pattern, data string, l *grep.Limits) (inMemory, file, stream *grep.Result) {
	t.Helper()
	inMemory, err := p.Bytes(t.Context(), []byte(data), l)
	if err != nil {
		t.Fatal(err)
	}
	file, err = p.File(t.Context(), strings.NewReader(data), int64(len(data)), l)
	if err != nil {
		t.Fatal(err)
	}
	stream, err = p.Reader(t.Context(), iotest.HalfReader(strings.NewReader(data)), l)
	if err != nil {
		t.Fatal(err)
	}
	return inMemory, file, stream
}

// everyWay searches data in every way, and returns the result if it is the
// same in all.
func everyWay(t testing.TB, p *grep.Pattern, data string, l *grep.Limits) *grep.Result {
	t.Helper()
	want, file, stream := ways(t, p, data, l)
	if l.First { // how much is read depends on the sizes of blocks
		file.Read, stream.Read = want.Read, want.Read
	}
	if d := cmp.Diff(want, file); d != "" {
		t.Fatalf("File and Bytes differ (limits %+v):\n%s", *l, clipped(d))
	}
	if d := cmp.Diff(want, stream); d != "" {
		t.Fatalf("Reader and Bytes differ (limits %+v):\n%s", *l, clipped(d))
	}
	return want
}

func clipped(s string) string { return s[:min(len(s), 3000)] }

// model is what Lines has to be, without limits of size.
func model(data string, match func(string) bool, l grep.Limits) []grep.Line {
	var all, out []grep.Line
	var offset int64
	for i, line := range split(data) {
		all = append(all, grep.Line{Number: int64(i + 1), Offset: offset, Text: line, Match: match(line)})
		offset += int64(strings.IndexByte(data[offset:], '\n') + 1) // wrong after the last line only
	}
	shown, after, next := 0, 0, 0
	for i, line := range all {
		switch {
		case shown == l.Matches && after == 0 || shown == l.Matches && line.Match:
			return out
		case line.Match:
			out = append(out, all[max(next, i-l.Before):i+1]...)
			shown, after, next = shown+1, l.After, i+1
		case after > 0:
			out = append(out, line)
			after, next = after-1, i+1
		}
	}
	return out
}

func TestContext(t *testing.T) {
	for seed := range uint64(120 / share) {
		r := rand.New(rand.NewPCG(seed, 7))
		var data strings.Builder
		size := []int{0, 50, 500, 700_000}[r.IntN(4)]
		rare := []int{2, 10, 1000, 20_000}[r.IntN(4)]
		for n := 0; data.Len() < size; n++ {
			text := fmt.Sprintf("line %d ", n)
			if r.IntN(5000) == 0 {
				text += strings.Repeat("long", r.IntN(10_000)) + " "
			}
			if r.IntN(rare) == 0 {
				text += "match"
			}
			data.WriteString(text + []string{"\n", "\n", "\r\n"}[r.IntN(3)])
		}
		if r.IntN(2) == 0 {
			data.WriteString("the end, a match")
		}
		l := grep.Limits{Matches: 1 + r.IntN(1000)/(1+r.IntN(500)), Before: r.IntN(4) * r.IntN(4), After: r.IntN(4) * r.IntN(4), Line: 1 << 20, Bytes: 1 << 30}
		if r.IntN(10) == 0 {
			l.Before, l.After = 20_000, 20_000
		}
		pattern := []string{"match", "m[a]tch", "(?i)MATCH$", `\bmatch`}[r.IntN(4)]
		got := everyWay(t, compile(t, pattern), data.String(), &l)
		want := model(data.String(), func(s string) bool { return strings.Contains(s, "match") }, l)
		if d := cmp.Diff(want, got.Lines); d != "" {
			t.Fatalf("seed %d, %+v: lines differ (-want +got):\n%s", seed, l, clipped(d))
		}
		if n := strings.Count(data.String(), "match"); got.Matches != int64(n) {
			t.Fatalf("seed %d: %d matches, want %d", seed, got.Matches, n)
		}
	}
}

func TestLimits(t *testing.T) {
	data := strings.Repeat("a needle\nnothing\n", 300)
	p := compile(t, "needle")
	tests := []struct {
		name    string
		l       grep.Limits
		lines   int
		matches int64
		cut     string
	}{
		{"default", grep.Limits{}, 100, 300, "the lines have 100 of 300 matches"},
		{"all", grep.Limits{Matches: 300}, 300, 300, ""},
		{"count", grep.Limits{Matches: -1, Before: 2}, 0, 300, ""},
		{"first", grep.Limits{First: true}, 1, 1, ""},
		{"first of context", grep.Limits{First: true, Before: 3, After: 3}, 2, 1, ""},
		{"first, none", grep.Limits{First: true, Matches: -1}, 0, 1, ""},
		{"bytes", grep.Limits{Bytes: 30}, 3, 300, "the lines are cut at 30 bytes of text, and have 3 of 300 matches"},
		{"bytes with context", grep.Limits{Bytes: 30, After: 1}, 4, 300, "the lines are cut at 30 bytes of text, and have 2 of 300 matches"},
		{"negative", grep.Limits{Matches: 2, Before: -1, After: -1, Line: -1, Bytes: -1}, 2, 300, "the lines have 2 of 300 matches"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := everyWay(t, p, data, &tt.l)
			if len(r.Lines) != tt.lines || r.Matches != tt.matches || r.Cut != tt.cut {
				t.Errorf("%d lines, %d matches, cut %q; want %d, %d, %q", len(r.Lines), r.Matches, r.Cut, tt.lines, tt.matches, tt.cut)
			}
		})
	}
}

func TestBytesKeepsNearestContext(t *testing.T) {
	r := everyWay(t, compile(t, "x"), "1234\n5678\n9012\nx\n", &grep.Limits{Before: 3, Bytes: 9})
	if len(r.Lines) != 3 || r.Lines[0].Number != 2 || r.Cut == "" {
		t.Errorf("lines %+v, cut %q; want lines 2 to 4 and a cut", r.Lines, r.Cut)
	}
}

func TestFirstStops(t *testing.T) {
	data := "x\n" + strings.Repeat("a line\n", 1_000_000)
	r, err := compile(t, "x").Bytes(t.Context(), []byte(data), &grep.Limits{First: true})
	if err != nil || r.Matches != 1 || r.Read > 1<<20 {
		t.Errorf("%d matches, %d bytes read, error %v; want 1 and less than 1 MiB", r.Matches, r.Read, err)
	}
}

func TestClip(t *testing.T) {
	filler := "日本語é😀a"
	tests := []struct{ name, before, match, after string }{
		{"middle", strings.Repeat(filler, 100), "needle", strings.Repeat(filler, 100)},
		{"begin", "", "needle", strings.Repeat(filler, 100)},
		{"end", strings.Repeat(filler, 100), "needle", ""},
		{"near the end", strings.Repeat(filler, 100), "needle", filler},
		{"long", strings.Repeat(filler, 50_000), "needle", strings.Repeat(filler, 50_000)},
		{"long, at its begin", filler, "needle", strings.Repeat(filler, 30_000)},
		{"long, at its end", strings.Repeat(filler, 30_000), "needle", filler},
		{"end of a buffer", strings.Repeat("x", 256<<10-3), "needle", strings.Repeat("y", 400_000)},
		{"end of a buffer, behind", strings.Repeat("x", 256<<10-6), "needle", strings.Repeat("y", 400_000)},
	}
	for _, tt := range tests {
		for _, end := range []string{"", "\n", "\r\n", "\nlast\n"} {
			line := tt.before + tt.match + tt.after
			for _, pattern := range []string{"needle", "n[e]+dle"} {
				// Where the match ends is known exactly for literals only.
				one, two, three := ways(t, compile(t, pattern), "first\n"+line+end, &grep.Limits{Line: 40, Before: 1, After: 1})
				for _, r := range []*grep.Result{one, two, three} {
					if r.Matches != 1 || len(r.Lines) < 2 {
						t.Fatalf("%s: %d matches, %d lines", tt.name, r.Matches, len(r.Lines))
					}
					checkClipped(t, tt.name, line, r.Lines[1])
				}
			}
		}
	}
}

func checkClipped(t *testing.T, name, line string, l grep.Line) {
	t.Helper()
	if !l.Match || !strings.Contains(l.Text, "needle") || !utf8.ValidString(l.Text) || utf8.RuneCountInString(l.Text) != 40 {
		t.Fatalf("%s: line %+v", name, l)
	}
	all := []rune(line)
	if got := string(all[l.Before : int64(len(all))-l.After]); got != l.Text {
		t.Fatalf("%s: counts %d and %d are of %q, want %q", name, l.Before, l.After, got, l.Text)
	}
}

// One worker finds what several find, also what follows a line that is longer
// than a block.
func TestOneWorker(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	TestLongLines(t)
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("0123456789", 30_000)
	for _, data := range []string{
		long, long + "\n", "\n" + long + "x\n" + long + "\r\n", "a\n" + long + "\nb\nx" + long + "\nc\n",
		strings.Repeat(long+"\r\r\n", 3) + "x", long + "\r", "x\n" + long[:256<<10-2] + "\n" + long[:256<<10] + "\n" + long[:256<<10-1] + "\r\n9",
		long[:256<<10-1] + "é" + long + "\n", long[:256<<10-1] + "\xc3" + long + "\n",
	} {
		for _, pattern := range []string{`x`, `9$`, `^0.*9$`, `é`, `\x{FFFD}`, `9\r$`, `x0|9x`, `^$`, `\b8`, `(?i)X`} {
			compare(t, pattern, nil, data)
		}
	}
	compare(t, "^0.*9x$", nil, "x\n"+strings.Repeat(long, 5)+"x\r\n"+strings.Repeat(long, 4)+"x")
	r := everyWay(t, compile(t, "b"), "a\n"+long+"\nb\n"+long+"\nc\n", &grep.Limits{Before: 2, After: 2, Line: 10})
	var got []string
	for _, l := range r.Lines {
		got = append(got, fmt.Sprintf("%d@%d %s+%d", l.Number, l.Offset, l.Text, l.After))
	}
	want := []string{"1@0 a+0", "2@2 0123456789+299990", "3@300003 b+0", "4@300005 0123456789+299990", "5@600006 c+0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDeadline(t *testing.T) {
	ctx := &deadline{t.Context(), make(chan struct{})}
	p := compile(t, "x")
	r, err := p.Reader(ctx, then(strings.Repeat("x\n", 1<<20), ctx, "y\n"), nil)
	if err != nil || r.Matches == 0 || len(r.Lines) != 100 || !strings.HasPrefix(r.Cut, "the time ran out after ") {
		t.Errorf("%d matches, %d lines, cut %q, error %v; want what was found", r.Matches, len(r.Lines), r.Cut, err)
	}
	r, err = p.Bytes(ctx, []byte("x"), nil)
	if err != nil || r.Matches != 0 || r.Cut != "the time ran out after 0 bytes" {
		t.Errorf("%+v, %v; want nothing, cut", r, err)
	}
}

func TestDeadlineInALongLine(t *testing.T) {
	ctx := &deadline{t.Context(), make(chan struct{})}
	r, err := compile(t, "y").Reader(ctx, then("y\n"+strings.Repeat("x", 1<<20), ctx, "x"), nil)
	if err != nil || !strings.HasPrefix(r.Cut, "the time ran out after ") {
		t.Errorf("cut %q, error %v; want that the time ran out", r.Cut, err)
	}
}

// A deadline is a context whose time runs out when its channel is closed.
type deadline struct {
	context.Context
	done chan struct{}
}

func (d *deadline) Done() <-chan struct{} { return d.done }

func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// then gives first, ends the context, and gives more for ever.
func then(first string, ctx *deadline, more string) io.Reader {
	return io.MultiReader(strings.NewReader(first), canceller{func() { close(ctx.done) }}, endless{more})
}

type endless struct{ text string }

func (e endless) Read(b []byte) (int, error) {
	return copy(b, strings.Repeat(e.text, min(len(b), 10_000)/len(e.text))), nil
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the user left")
	data := iotest.DataErrReader(io.MultiReader(strings.NewReader(strings.Repeat("x\n", 1<<20)), canceller{func() { cancel(gone) }}, endless{"y\n"}))
	r, err := compile(t, "x").Reader(ctx, data, nil)
	if !errors.Is(err, gone) || r == nil || !strings.HasPrefix(r.Cut, "cancelled after ") {
		t.Errorf("result %v, error %v; want the cause and a cut", r, err)
	}
}

type canceller struct{ cancel func() }

func (c canceller) Read([]byte) (int, error) { c.cancel(); return 0, io.EOF }

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	data := strings.Repeat("needle\n", 100_000)
	r, err := compile(t, "needle").Reader(t.Context(), io.MultiReader(strings.NewReader(data), iotest.ErrReader(broken)), nil)
	if !errors.Is(err, broken) || r.Matches != 100_000 || len(r.Lines) != 100 {
		t.Errorf("%d matches, %d lines, error %v; want 100000, 100 and the error", r.Matches, len(r.Lines), err)
	}
	if _, err := compile(t, "x").Reader(t.Context(), silent{}, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v of a reader that gives nothing; want %v", err, io.ErrNoProgress)
	}
}

// TestFileReadError has the reads of one block fail, of a file that others are
// read from at the same time.
func TestFileReadError(t *testing.T) {
	data := strings.Repeat("needle\n", 1_000_000)
	for _, at := range []int64{0, 10, 300_000, 1_000_000, 3_333_333, int64(len(data)) - 1} {
		r, err := compile(t, "needle").File(t.Context(), brokenFile{strings.NewReader(data), at}, int64(len(data)), &grep.Limits{Matches: 1 << 30, Bytes: 1 << 30})
		want := (at + 6) / 7 // of the lines that begin before
		if at%7 > 0 && at%7 < 6 {
			want-- // and do not end there, too short to match
		}
		if !errors.Is(err, errBroken) || r.Matches != want || int64(len(r.Lines)) != want || r.Read != at {
			t.Errorf("broken at %d: %d matches, %d lines, %d bytes, error %v; want %d matches", at, r.Matches, len(r.Lines), r.Read, err, want)
		}
		short, err := compile(t, "needle").File(t.Context(), strings.NewReader(data[:at]), int64(len(data)), nil)
		if err != nil || short.Matches != want || short.Read != at {
			t.Errorf("cut off at %d: %d matches, %d bytes, error %v; want %d matches", at, short.Matches, short.Read, err, want)
		}
	}
}

var errBroken = errors.New("broken")

// A brokenFile cannot be read from a byte on.
type brokenFile struct {
	io.ReaderAt
	at int64
}

func (b brokenFile) ReadAt(buf []byte, off int64) (int, error) {
	if off+int64(len(buf)) <= b.at {
		return b.ReaderAt.ReadAt(buf, off)
	}
	n, _ := b.ReaderAt.ReadAt(buf[:max(b.at-off, 0)], off)
	return n, errBroken
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestCompileErrors(t *testing.T) {
	tests := []struct {
		pattern string
		opts    *grep.Options
		want    string
	}{
		{"a(b", nil, `pattern "a(b": missing closing ): "a(b"; mend the expression (RE2 syntax), or search for a literal text instead`},
		{"(?=a)", nil, `invalid or unsupported Perl syntax: "(?="`},
		{"a\nb", nil, "it has a line break"},
		{`(a|b\n)`, nil, "it has a line break"},
		{"a\nb", &grep.Options{Literal: true}, "it has a line break"},
		{"\xff", &grep.Options{Literal: true}, "it is not UTF-8"},
		{"((a{100}){100}){2}", nil, "invalid repeat count"},
		{strings.Repeat("abcdefgh", 3000), nil, `abcd"…: it is too large`},
	}
	for _, tt := range tests {
		if _, err := grep.Compile(tt.pattern, tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compile(%.20q) = %v, want %q", tt.pattern, err, tt.want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	p := compile(t, `(a|b)*a(a|b){9}c|needle`)
	r := rand.New(rand.NewPCG(1, 8))
	data := make([]byte, 600_000)
	for i := range data {
		data[i] = "ababababababababababc\n"[r.IntN(22)]
	}
	want, err := p.Bytes(t.Context(), data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			got, err := p.File(t.Context(), bytes.NewReader(data), int64(len(data)), nil)
			if err != nil || !cmp.Equal(want, got) {
				t.Errorf("result or error (%v) differs", err)
			}
		})
	}
	all.Wait()
}

// zeros is a file of lines with zeros; one of each million has a needle.
type zeros struct{}

func (zeros) ReadAt(b []byte, off int64) (int, error) {
	for i := range b {
		b[i] = "000000000000000\n"[(off+int64(i))%16]
	}
	if at := (off+1<<20-1)>>20<<20 - off; at < int64(len(b))-16 {
		copy(b[at:], "needle")
	}
	return len(b), nil
}

func TestMemory(t *testing.T) {
	for _, pattern := range []string{"needle", "^need.*0$", "0"} {
		p := compile(t, pattern)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := p.File(t.Context(), zeros{}, 100<<20, nil)
		runtime.ReadMemStats(&after)
		if err != nil || r.Matches < 90 {
			t.Fatalf("%d matches, error %v", r.Matches, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
			t.Errorf("%q: %d bytes were allocated for 100 MiB", pattern, used)
		}
	}
}
