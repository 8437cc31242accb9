package storetest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/store"
)

func testContent(t *testing.T, open Open) {
	s := open(t, nil)
	for i, size := range []int{0, 1, 100, 16 << 10, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3_000_000} {
		for _, piece := range []int{7, 32 << 10, 5_000_000} {
			if piece == 7 && size > 1<<20 {
				continue
			}
			name, want := fmt.Sprintf("%d-%d", i, piece), text(size)
			info := putPieces(t, s, name, want, piece)
			b := get(t, s, name)
			if got := content(t, b); !bytes.Equal(got, want) {
				t.Errorf("%d bytes in pieces of %d: %d others came back", size, piece, len(got))
			}
			checkSameInfo(t, b.Info(), info)
			if info.Name != name || info.Size != int64(size) || time.Since(info.Created).Abs() > time.Minute {
				t.Errorf("info is %+v", info)
			}
		}
	}
	infos := map[string]store.Info{}
	for info, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		infos[info.Name] = info
	}
	b := get(t, s, "7-32768")
	checkSameInfo(t, infos["7-32768"], b.Info())
	readAt(t, b, text(3_000_000))
}

// checkSameInfo compares what two calls say of a blob, but for its use.
func checkSameInfo(t *testing.T, got, want store.Info) {
	t.Helper()
	if got.Name != want.Name || got.Size != want.Size || got.Lines != want.Lines || !got.Created.Equal(want.Created) {
		t.Errorf("info is %+v, before it was %+v", got, want)
	}
}

func putPieces(t *testing.T, s store.Store, name string, content []byte, piece int) store.Info {
	t.Helper()
	w := create(t, s, name)
	for p := range slices.Chunk(content, piece) {
		mine := bytes.Clone(p)
		if n, err := w.Write(mine); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
		clear(mine) // a writer keeps nothing of what it is given
	}
	info, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// readAt reads a blob at several places at once.
func readAt(t *testing.T, b store.Blob, want []byte) {
	size := int64(len(want))
	var all sync.WaitGroup
	for _, at := range []int64{0, 1, 256<<10 - 1, 256 << 10, 1_000_000, size - 1, size, size + 1} {
		for _, length := range []int64{1, 100, 600_000} {
			all.Go(func() {
				p := make([]byte, length)
				n, err := b.ReadAt(p, at)
				rest := want[min(at, size):min(at+length, size)]
				if !bytes.Equal(p[:n], rest) || (err == nil) != (n == len(p)) || err != nil && err != io.EOF {
					t.Errorf("read %d bytes at %d: %d bytes, error %v", length, at, n, err)
				}
			})
		}
	}
	all.Wait()
}

func testLines(t *testing.T, open Open) {
	s := open(t, nil)
	huge := strings.Repeat("x", 700_000)
	for i, content := range []string{
		"", "\n", "\n\n", "a", "a\n", "a\nb", "a\r\nb\r\n", "a\rb", "\na",
		huge, huge + "\n", huge + "\nend", "begin\n" + huge + "\n" + huge + "\nend\n",
		strings.Repeat("\n", 600_000),
		strings.Repeat("0123456789abcde\n", 1<<16), // lines end where chunks do
		string(text(2_000_000)),
		string(text(1_000_000)) + huge + string(text(1_000_000)),
	} {
		for _, piece := range []int{1 << 10, 10_000_000} {
			name := fmt.Sprintf("%d-%d", i, piece)
			info := putPieces(t, s, name, []byte(content), piece)
			want := begins(content)
			if info.Lines != int64(len(want)-1) {
				t.Errorf("%s: %d lines, want %d", name, info.Lines, len(want)-1)
			}
			lines(t, get(t, s, name), want)
		}
	}
}

// begins returns where the lines begin, and the end.
func begins(content string) []int64 {
	var at []int64
	size := int64(0)
	for line := range strings.Lines(content) {
		at = append(at, size)
		size += int64(len(line))
	}
	return append(at, size)
}

// lines checks the first lines, the last ones, and some between.
func lines(t *testing.T, b store.Blob, want []int64) {
	t.Helper()
	for line := 0; line < len(want); line++ {
		if got, err := b.Line(int64(line)); got != want[line] || err != nil {
			t.Fatalf("line %d of %d begins at %d, error %v, want %d", line, len(want)-1, got, err, want[line])
		}
		if line > 10 {
			line += (len(want) - 10 - line) / 10 // closer to each other towards the end
		}
	}
	for line := 20; line < len(want); line += len(want)/20 + 1 {
		if got, err := b.Line(int64(line)); got != want[line] || err != nil {
			t.Fatalf("line %d of %d begins at %d, error %v, want %d", line, len(want)-1, got, err, want[line])
		}
	}
	for _, line := range []int64{-1, int64(len(want))} {
		if at, err := b.Line(line); err == nil {
			t.Errorf("line %d of %d begins at %d", line, len(want)-1, at)
		}
	}
}
