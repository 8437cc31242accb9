package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/toolpost/toolpost/store"
)

// logLines returns about size bytes that look like a log.
func logLines(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-11-21T17:%02d:%02d INFO worker-%d request id=%08x-%04x took %dms in größe %d: %s\n",
			i/60%60, i%60, i%7, r.Uint32(), r.Uint32()&0xffff, r.IntN(900), i, "payload payload payload payload"[:r.IntN(31)])
	}
	return b.Bytes()
}

// BenchmarkWrite stores 100 MB, read from a file in pieces of 32 KiB. In turns
// with it, cat copies the file. The metrics are the least of all rounds: what
// writing takes and what committing does, which waits for the disk, and how much
// that is of cat without and with a sync of its file.
func BenchmarkWrite(b *testing.B) {
	folder := b.TempDir()
	source, target := filepath.Join(folder, "source"), filepath.Join(folder, "target")
	if err := os.WriteFile(source, logLines(100_000_000), 0o600); err != nil {
		b.Fatal(err)
	}
	s, err := store.Dir(filepath.Join(folder, "store"), nil)
	if err != nil {
		b.Fatal(err)
	}
	const never = time.Hour
	write, all, cat, catSync := never, never, never, never
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if err := exec.Command("sh", "-c", "cat '"+source+"' > '"+target+"'").Run(); err != nil {
			b.Skip(err)
		}
		cat = min(cat, time.Since(start))
		syncFile(b, target)
		catSync = min(catSync, time.Since(start))
		if err := os.Remove(target); err != nil {
			b.Fatal(err)
		}

		name := "log" + strconv.Itoa(i)
		start = time.Now()
		w := copyTo(b, s, name, source)
		write = min(write, time.Since(start))
		if _, err := w.Commit(); err != nil {
			b.Fatal(err)
		}
		all = min(all, time.Since(start))
		if err := s.Remove(context.Background(), name); err != nil {
			b.Fatal(err)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(write), "write-ms")
	b.ReportMetric(ms(cat), "cat-ms")
	b.ReportMetric(ms(write)/ms(cat), "write/cat")
	b.ReportMetric(ms(all), "write+commit-ms")
	b.ReportMetric(ms(catSync), "cat+sync-ms")
	b.ReportMetric(ms(all)/ms(catSync), "write+commit/cat+sync")
}

// BenchmarkKeep stores whole outputs of the sizes that a gateway sees most.
func BenchmarkKeep(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size>>10, " KiB"), func(b *testing.B) {
			s, err := store.Dir(b.TempDir(), &store.Options{Max: 1 << 40})
			if err != nil {
				b.Fatal(err)
			}
			data, n := logLines(size), 0
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				n++
				if err := keep(b.Context(), s, "output"+strconv.Itoa(n), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func syncFile(b *testing.B, path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
}

func copyTo(b *testing.B, s store.Store, name, source string) store.Writer {
	f, err := os.Open(source)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := s.Create(context.Background(), name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 32<<10)); err != nil {
		b.Fatal(err)
	}
	return w
}

// BenchmarkPage opens a blob of 100 MB, reads 200 lines at a random place, and
// closes it.
func BenchmarkPage(b *testing.B) {
	data := logLines(100_000_000)
	dir, err := store.Dir(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, s := range map[string]store.Store{"dir": dir, "memory": store.Memory(nil)} {
		w, err := s.Create(b.Context(), "log")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Commit(); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := page(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func page(ctx context.Context, s store.Store) error {
	blob, err := s.Open(ctx, "log")
	if err != nil {
		return err
	}
	defer blob.Close()
	first := rand.Int64N(blob.Info().Lines - 200)
	from, err := blob.Line(first)
	if err != nil {
		return err
	}
	to, err := blob.Line(first + 200)
	if err != nil {
		return err
	}
	text := make([]byte, to-from)
	if _, err := blob.ReadAt(text, from); err != nil {
		return err
	}
	if n := bytes.Count(text, []byte("\n")); n != 200 {
		return fmt.Errorf("page has %d lines", n)
	}
	return nil
}
