package grep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// largeFile returns a file that is searched in windows, of lines of all lengths.
func largeFile(t *testing.T) (*os.File, []byte) {
	t.Helper()
	var data bytes.Buffer
	for n := 0; data.Len() < 4*window; n++ {
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
	if !cached(f.Fd(), 0, window) {
		t.Skip("the system does not tell what it keeps of files: there are no windows here")
	}
	return f, data.Bytes()
}

func TestWindows(t *testing.T) {
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
			src := newFile(f, int64(len(data)))
			got, err := p.search(t.Context(), src, src.size, &l)
			if err != nil || got.Matches != want.Matches || !l.First && got.Read != want.Read || fmt.Sprint(got.Lines) != fmt.Sprint(want.Lines) {
				t.Errorf("%q, %+v: %d matches in %d bytes, want %d in %d; lines\n%v, want\n%v\nerror %v",
					pattern, l, got.Matches, got.Read, want.Matches, want.Read, got.Lines, want.Lines, err)
			}
			if !src.windows.Load() {
				t.Errorf("%q, %+v: a window was read", pattern, l)
			}
		}
	}
}

// A hole of a file is not in memory until it is read.
func TestWindowNotInMemory(t *testing.T) {
	f, data := largeFile(t)
	at := int64(len(data)/os.Getpagesize()) * int64(os.Getpagesize())
	if err := f.Truncate(at + 2*window); err != nil {
		t.Fatal(err)
	}
	if mapped(f, at-window, 2*window) != nil {
		t.Error("a part was mapped that the disk has to be waited for")
	}
}

// Where a file is cut off after it was mapped, what is left of it is read.
func TestWindowCutOff(t *testing.T) {
	f, all := largeFile(t)
	for _, pattern := range []string{"7", "zx", "Q", "^[0-9]+5 "} {
		p, err := Compile(pattern, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(all, 0); err != nil {
			t.Fatal(err)
		}
		data := mapped(f, 0, window)
		if data == nil {
			t.Fatal("it was not mapped")
		}
		const left = 1 << 20
		if err := f.Truncate(left); err != nil {
			t.Fatal(err)
		}
		w := newWorker(p)
		w.begin(new(atomic.Bool))
		if done, ok := w.volatile(data); ok {
			t.Errorf("%q: volatile returned %v, %v for a file that is cut off", pattern, done, ok)
		}
		b := block{file: newFile(f, int64(len(all))), size: window}
		done, err := b.search(w, nil)
		want, _ := p.Bytes(t.Context(), all[:left], &Limits{Matches: -1})
		if !done || b.size != left || int64(w.count) != want.Matches {
			t.Errorf("%q: %d matches in %d bytes, want %d in %d; %v, error %v", pattern, w.count, b.size, want.Matches, left, done, err)
		}
	}
}

// A fault of the program itself is none of the file's.
func TestWindowPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic was taken for a file that is cut off")
		}
	}()
	new(worker).volatile([]byte("x"))
}

// A fault at an address that is not in the file is a defect of the program, also if
// it has an address, as one of memory that was unmapped.
func TestWindowFaultElsewhere(t *testing.T) {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(page) }()
	defer func() {
		fault := recover()
		if _, addressed := fault.(interface{ Addr() uintptr }); !addressed {
			t.Errorf("the fault %v was hidden, or is not the one meant", fault)
		}
	}()
	p, err := Compile("x", nil)
	if err != nil {
		t.Error(err)
	}
	w := newWorker(p)
	w.begin(new(atomic.Bool))
	w.pattern = (*Pattern)(unsafe.Pointer(&page[0])) // the first that block looks at
	w.volatile([]byte("x"))
}
