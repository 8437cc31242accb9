package grep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// largeFile returns a file of many blocks, with lines of all lengths.
func largeFile(t *testing.T) (*os.File, []byte) {
	t.Helper()
	var data bytes.Buffer
	for n := 0; data.Len() < 16*blockSize; n++ {
		fmt.Fprintf(&data, "%d %s\n", n, bytes.Repeat([]byte("xyz"), n%100))
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(data.Bytes()); err != nil {
		t.Fatal(err)
	}
	return f, data.Bytes()
}

// TestFileAsBytes checks that a file has the matches of its content.
func TestFileAsBytes(t *testing.T) {
	f, data := largeFile(t)
	for _, pattern := range []string{"7", "99 x", "(?i)ZX", "^[0-9]+5 ", "z$", "^$", "no such text"} {
		p, err := Compile(pattern, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []Limits{{Matches: -1}, {Matches: 3, Before: 2}, {Matches: 1, After: 1}, {Matches: -1, First: true}} {
			want, err := p.Bytes(t.Context(), data, &l)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.File(t.Context(), f, int64(len(data)), &l)
			if err != nil || got.Matches != want.Matches || !l.First && got.Read != want.Read || fmt.Sprint(got.Lines) != fmt.Sprint(want.Lines) {
				t.Errorf("%q, %+v: %d matches in %d bytes, want %d in %d; lines\n%v, want\n%v\nerror %v",
					pattern, l, got.Matches, got.Read, want.Matches, want.Read, got.Lines, want.Lines, err)
			}
		}
	}
}

// TestFileCutOff checks that what is left of a file is searched if another program
// cuts it off after its size was taken.
func TestFileCutOff(t *testing.T) {
	f, all := largeFile(t)
	const left = blockSize / 4
	if err := f.Truncate(left); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"7", "zx", "Q", "^[0-9]+5 "} {
		p, err := Compile(pattern, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorker(p)
		w.begin(new(atomic.Bool))
		b := block{file: &file{r: f, size: int64(len(all))}, size: blockSize}
		done, err := b.search(w, nil)
		want, _ := p.Bytes(t.Context(), all[:left], &Limits{Matches: -1})
		if !done || b.size != left || int64(w.count) != want.Matches {
			t.Errorf("%q: %d matches in %d bytes, want %d in %d; %v, error %v", pattern, w.count, b.size, want.Matches, left, done, err)
		}
	}
}
