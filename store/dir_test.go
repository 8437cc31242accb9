package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/store"
)

func open(t *testing.T, folder string, opts *store.Options) store.Store {
	t.Helper()
	s, err := store.Dir(folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDirOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	folder := filepath.Join(t.TempDir(), "new", "store")
	s := open(t, folder, nil)
	w, err := s.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Write(make([]byte, 3_000_000)); err != nil { // more than is kept in memory
		t.Fatal(err)
	}
	if err := keep(t.Context(), s, "b", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(fileNames(t, folder), "", "..") {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q has mode %v", name, info.Mode())
		}
	}
	if n := len(fileNames(t, folder)); n != 3 {
		t.Errorf("%d files", n)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Dir(folder, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("open a folder of everybody: error %v", err)
	}
}

func TestDirNotAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Dir(path, nil); err == nil {
		t.Error("a file is opened as a store")
	}
}

// What is not of the store stays, and is not seen.
func TestDirOtherFiles(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"README", "a.blob", "new.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), bytes.Repeat([]byte(name), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, folder, &store.Options{Max: 1000})
	if err := keep(t.Context(), s, "b", make([]byte, 700)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if files := len(fileNames(t, folder)); n != 1 || files != 5 {
		t.Errorf("%d blobs, %d files", n, files)
	}
}

// A file under the name of another blob is not that blob.
func TestDirMisnamed(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, nil)
	large := make([]byte, 3_000_000) // gets a file of its own
	if err := keep(t.Context(), s, "a", large); err != nil {
		t.Fatal(err)
	}
	a := onlyFile(t, folder, ".blob")
	if err := os.Rename(a, a+".old"); err != nil {
		t.Fatal(err)
	}
	if err := keep(t.Context(), s, "b", large); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(a+".old", onlyFile(t, folder, ".blob")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open a misnamed file: error %v", err)
	}
}

// A folder that was deleted comes back.
func TestDirDeleted(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	s := open(t, folder, nil)
	for range 2 {
		if err := keep(t.Context(), s, "a", []byte("a")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Open(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open in a deleted folder: error %v", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := keep(t.Context(), open(t, folder, nil), "a", []byte("of another")); err != nil {
		t.Fatal(err)
	}
	if err := keep(t.Context(), s, "a", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create what another has put into a new folder: error %v", err)
	}
	b, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// Two stores of one folder are as two processes: they see each other's blobs,
// and what one of them reads the other does not remove.
func TestDirShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, opts := t.TempDir(), &store.Options{Max: 350_000, TTL: time.Hour}
		one, two := open(t, folder, opts), open(t, folder, opts)
		data := make([]byte, 150_000)
		for _, name := range []string{"a", "b"} {
			if err := keep(t.Context(), one, name, data); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if err := keep(t.Context(), two, "a", data); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create what another has: error %v", err)
		}
		w, err := one.Create(t.Context(), "written")
		if err != nil {
			t.Fatal(err)
		}
		b, err := one.Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := keep(t.Context(), two, "c", data); err != nil {
			t.Fatal(err)
		}
		var names []string
		for info, err := range one.List(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, info.Name)
		}
		if got := strings.Join(names, " "); got != "a c" {
			t.Errorf("%s are left, want those that are read or new", got)
		}
		time.Sleep(time.Hour)
		three := open(t, folder, opts)
		if n := len(fileNames(t, folder)); n != 2 {
			t.Errorf("%d files are left, want what is read, and the manifest", n)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(); err != nil {
			t.Errorf("another removed what was written: %v", err)
		}
		if err := keep(t.Context(), three, "d", data); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := keep(t.Context(), three, "e", nil); err != nil {
			t.Fatal(err)
		}
		if n := len(fileNames(t, folder)); n != 4 {
			t.Errorf("%d files are left, want those of written, d and e, and the manifest", n)
		}
	})
}

// What a process writes is not taken for what one that crashed left behind.
func TestDirSharedWriter(t *testing.T) {
	folder := t.TempDir()
	w, err := open(t, folder, nil).Create(t.Context(), "written")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 3_000_000)); err != nil { // more than is kept in memory
		t.Fatal(err)
	}
	open(t, folder, nil)
	if n := len(fileNames(t, folder)); n != 1 {
		t.Errorf("%d files, want what is written", n)
	}
	if _, err := w.Commit(); err != nil {
		t.Errorf("another removed what was written: %v", err)
	}
}

// Of writers of one name in several processes one commits it.
func TestDirRace(t *testing.T) {
	folder := t.TempDir()
	stores := []store.Store{open(t, folder, nil), open(t, folder, nil)}
	for round := range 100 {
		name := strconv.Itoa(round)
		var (
			all     sync.WaitGroup
			writers = make([]store.Writer, len(stores))
			errs    = make([]error, len(stores))
		)
		for i, s := range stores {
			if writers[i], errs[i] = s.Create(t.Context(), name); errs[i] != nil {
				t.Fatal(errs[i])
			}
		}
		for i, w := range writers {
			all.Go(func() { _, errs[i] = w.Commit() })
		}
		all.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), fs.ErrExist) {
			t.Fatalf("two commits of one name: %v and %v", errs[0], errs[1])
		}
	}
}

// TestAvailableBuffer writes into the room that a writer has, and from elsewhere, blobs of
// which some are too long for memory.
func TestAvailableBuffer(t *testing.T) {
	s, rng := open(t, t.TempDir(), nil), rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 50_000, 500_000, 2<<20 - 200, 3_000_000} {
		name := strconv.Itoa(size)
		w, err := s.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for len(want) < size {
			p := w.(interface{ AvailableBuffer() []byte }).AvailableBuffer()
			if p == nil {
				t.Fatal("there is no room")
			}
			n := min(1+rng.IntN(cap(p)), size-len(want))
			if rng.IntN(3) == 0 {
				p = make([]byte, 0, n)
			}
			for range n {
				p = append(p, "ab\n"[rng.IntN(3)])
			}
			if _, err := w.Write(p); err != nil {
				t.Fatal(err)
			}
			want = append(want, p...)
		}
		info, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		got, err := stored(t, s, name)
		if err != nil || got != string(want) {
			t.Errorf("%d bytes were kept, and read as %d others, error %v", size, len(got), err)
		}
		if lines := int64(bytes.Count(want[:len(want)-1], []byte("\n"))) + 1; info.Lines != lines {
			t.Errorf("%d bytes have %d lines, want %d", size, info.Lines, lines)
		}
	}
}
