package output_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/output"
)

// record runs f in a call of the session "s".
func record(t *testing.T, c *output.Cache, f func(ctx context.Context, r *output.Recorder)) {
	t.Helper()
	tool := toolpost.New("record", "Record.", func(ctx context.Context, _ struct{}) (string, error) {
		f(ctx, c.Record(ctx))
		return "", nil
	}, nil)
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Call(t.Context(), &toolpost.Call{Session: "s", Name: "record"}); err != nil {
		t.Fatal(err)
	}
}

func TestRecorder(t *testing.T) {
	b := newBench(t, output.Options{Chars: 1000})
	record(t, b.cache, func(ctx context.Context, r *output.Recorder) {
		write := func(s string) {
			if n, err := r.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("Write gives %d, %v", n, err)
			}
		}
		write("start\n")
		if got, ref := r.Text(ctx); got != "start\n" || ref != "" || b.count() != 0 {
			t.Errorf("a short output is %q, %q", got, ref)
		}
		write(numbered(1000))
		first, ref := r.Text(ctx)
		if !strings.HasPrefix(first, "start\nline 1\n") || !strings.HasSuffix(first, "line 1000\n") || utf8.RuneCountInString(first) > 1000 || !strings.Contains(first, ref) {
			t.Errorf("the view is %q", first)
		}
		if again, same := r.Text(ctx); again != first || same != ref {
			t.Error("the view is another one")
		}
		write("more\n")
		later, next := r.Text(ctx)
		if next == ref || !strings.HasSuffix(later, "line 1000\nmore\n") {
			t.Errorf("the later view is %q", later)
		}
		if b.whole(t, ref) != "start\n"+numbered(1000) || b.whole(t, next) != "start\n"+numbered(1000)+"more\n" {
			t.Error("what is stored is not what came")
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		write("too late")
		if last, _ := r.Text(ctx); last != later {
			t.Errorf("after the end the view is %q", last)
		}
		page := text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`","limit":1}`))
		if !strings.HasPrefix(page, "    1  start\n") {
			t.Errorf("the page is %q", page)
		}
	})
}

// However output is cut into pieces, the view and what is stored are those of
// the whole.
func TestRecorderPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		whole := strings.Repeat("aé€𝄞\xff\n", 1+rng.IntN(400)) + "\xe2\x82"
		clean := strings.ToValidUTF8(whole, "\uFFFD")
		b := newBench(t, output.Options{Chars: 1000})
		record(t, b.cache, func(ctx context.Context, r *output.Recorder) {
			for rest := whole; rest != ""; {
				n := min(len(rest), 1+rng.IntN(9))
				if _, err := r.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			view, ref := r.Text(ctx)
			if ref == "" && view != clean || ref != "" && (b.whole(t, ref) != clean || utf8.RuneCountInString(view) > 1000 || !utf8.ValidString(view)) {
				t.Errorf("%d bytes: the view is %q", len(whole), view)
			}
		})
	}
}

func TestRecorderThatCannotStore(t *testing.T) {
	b := newBench(t, output.Options{Chars: 1000})
	b.create = context.DeadlineExceeded
	record(t, b.cache, func(ctx context.Context, r *output.Recorder) {
		if _, err := r.Write([]byte(numbered(1000))); err != nil {
			t.Error(err)
		}
		view, ref := r.Text(ctx)
		if ref != "" || !strings.Contains(view, "and lost: the output cache cannot be written") || !strings.HasSuffix(view, "line 1000\n") {
			t.Errorf("the view is %q", view)
		}
		if _, err := r.Write([]byte("more\n")); err != nil {
			t.Error(err)
		}
		if view, _ := r.Text(ctx); !strings.Contains(view, "and lost") || !strings.HasSuffix(view, "more\n") {
			t.Errorf("the later view is %q", view)
		}
	})
}

// A text that comes in pieces, as JSON, is stored and shown as one that comes in
// memory.
func TestTextsInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "word ", "\n", "é", "€", "𝄞", "\r\n", "\x00", "\"\\", strings.Repeat("x", 700), strings.Repeat("long ", 90), "\uFFFD", "\t"}
	buffers := new(longjson.Buffers)
	for range 150 {
		var s strings.Builder
		few, size := 1+rng.IntN(len(alphabet)), 1+rng.IntN(200_000)
		for s.Len() < size {
			s.WriteString(alphabet[rng.IntN(few)])
		}
		whole := s.String()
		b := newBench(t, output.Options{Chars: 1000 + rng.IntN(60_000), Lines: 10 + rng.IntN(3000)})
		r := b.result(t, toolpost.TextResult(whole))
		want, ref := text(t, r), r.OutputRef()
		b.tool.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			quoted := wire.Quote(whole)
			spool := longjson.NewSpool("", buffers)
			if err := spool.Add(quoted, int64(len(quoted))); err != nil {
				t.Fatal(err)
			}
			defer spool.Close()
			view, ref, err := hidden.Keep(ctx)(ctx, spool.Text(longjson.Span{From: 1, To: int64(len(quoted)) - 1}), 1, false)
			if view == "" {
				view = whole
			}
			return toolpost.TextResult(view).WithOutputRef(ref), err
		}
		b.list(t)
		r = b.call(t, "s", "big", `{}`)
		if kept := r.OutputRef(); (kept == "") != (ref == "") || kept != "" && b.whole(t, kept) != whole {
			t.Fatalf("%d bytes are not what is stored as %q, in memory as %q", len(whole), kept, ref)
		} else if got := text(t, r); ref != "" && strings.ReplaceAll(got, kept, ref) != want || ref == "" && got != want {
			t.Fatalf("%d bytes are shown as\n%.300q, in memory as\n%.300q", len(whole), got, want)
		}
	}
}
