package grep_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost/internal/grep"
)

const logSize = 100 << 20

// writeLog writes a log of 100 MB that is always the same.
func writeLog(tb testing.TB, name string) {
	f, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(42, 42))
	levels := []string{"INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN", "ERROR"}
	parts := []string{"http", "db", "cache", "queue", "auth", "sched"}
	what := []string{"request finished", "connection reset by peer", "retry later", "café geöffnet", "接続しました", "flush took long", "user logged in", "lease renewed"}
	for n, size := 0, 0; size < logSize; n++ {
		message := what[r.IntN(len(what))]
		if r.IntN(100) == 0 {
			message = "timeout"
		}
		if n == 600_000 {
			message = "needle_42_xyz"
		}
		k, _ := fmt.Fprintf(w, "2026-11-%02dT%02d:%02d:%02d.%03dZ %s [%s-%d] id=%08x-%04x %s in %dms status=%d\n",
			1+n/40_000%28, n/1600%24, n/27%60, n%60, r.IntN(1000), levels[r.IntN(len(levels))], parts[r.IntN(len(parts))], r.IntN(100),
			r.Uint32(), r.IntN(1<<16), message, r.IntN(3000), 200+r.IntN(4)*100)
		size += k
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
}

var benchmarks = []struct {
	name, pattern string
	opts          *grep.Options
}{
	{"literal/once", `needle_42_xyz`, nil},
	{"literal/many", `timeout`, nil},
	{"literal/absent", `kangaroo`, nil},
	{"literal/common", `e`, nil},
	{"fold/once", `NEEDLE_42_XYZ`, &grep.Options{IgnoreCase: true}},
	{"fold/absent", `KANGAROOS`, &grep.Options{IgnoreCase: true}},
	{"required/none", `[A-Z]{4,5} \[[a-z]+-6\d\] id=\w{4}beef`, nil},
	{"required/rare", `[0-9a-f]{4}dead-[0-9a-f]{4}`, nil},
	{"required/word", `timeout`, &grep.Options{Word: true}},
	{"dfa/class", `id=[0-9]{8}-[0-9]{4} `, nil},
	{"dfa/alternatives", `(?i)timeout|retry after \d+`, nil},
	{"dfa/anchored", `^\S+ WARN .*end$`, nil},
	{"dfa/end", `status=[^45]00$|\d{9}ms$`, nil},
	{"dfa/digits", `\d{4}ms `, nil},
	{"dfa/unicode", `\p{Han}{2}\p{Hiragana}+x`, nil},
	{"every", ``, nil},
}

func BenchmarkLog(b *testing.B) {
	name := filepath.Join(b.TempDir(), "log")
	writeLog(b, name)
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range benchmarks {
		p, err := grep.Compile(bb.pattern, bb.opts)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			var r *grep.Result
			for b.Loop() {
				if r, err = p.File(context.Background(), f, info.Size(), nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Matches), "matches")
		})
	}
}
