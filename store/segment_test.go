package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/store"
)

// stored returns the content of a blob.
func stored(t *testing.T, s store.Store, name string) (string, error) {
	t.Helper()
	b, err := s.Open(t.Context(), name)
	if err != nil {
		return "", err
	}
	defer b.Close()
	data, err := io.ReadAll(io.NewSectionReader(b, 0, b.Info().Size))
	return string(data), err
}

// TestSegment keeps small blobs in one file. Another process reads them, and so does the
// next one.
func TestSegment(t *testing.T) {
	folder := t.TempDir()
	one, two := open(t, folder, nil), open(t, folder, nil)
	content := func(i int) string { return strings.Repeat(fmt.Sprintln("line", i), 100*i) }
	for i := range 50 {
		if err := keep(t.Context(), one, fmt.Sprint("b", i), []byte(content(i))); err != nil {
			t.Fatal(err)
		}
		if err := keep(t.Context(), two, fmt.Sprint("b", i), nil); !errors.Is(err, fs.ErrExist) {
			t.Fatalf("keep what another process has: error %v", err)
		}
	}
	onlyFile(t, folder, ".segment")
	if names := fileNames(t, folder); len(names) != 2 {
		t.Errorf("files are %q, want a segment and the manifest", names)
	}
	for i, s := range []store.Store{one, two, open(t, folder, nil)} {
		for n := i; n < 50; n += 3 {
			if got, err := stored(t, s, fmt.Sprint("b", n)); got != content(n) || err != nil {
				t.Errorf("blob %d has %d bytes, error %v", n, len(got), err)
			}
		}
	}
	if found, _ := filepath.Glob(folder + "/*.segment"); len(found) > 0 {
		t.Errorf("%q are left, from which all was read", found)
	}
	for n := range 50 {
		if got, err := stored(t, two, fmt.Sprint("b", n)); got != content(n) || err != nil {
			t.Errorf("blob %d has %d bytes then, error %v", n, len(got), err)
		}
	}
}

// TestSegmentTorn cuts the files anywhere, as a crash may. What is before the cut is whole,
// what is behind it is not there, and the folder takes more.
func TestSegmentTorn(t *testing.T) {
	origin := t.TempDir()
	s := open(t, origin, nil)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		if err := keep(t.Context(), s, name, []byte(strings.Repeat(name, 10))); err != nil {
			t.Fatal(err)
		}
	}
	segment, manifest := onlyFile(t, origin, ".segment"), onlyFile(t, origin, ".manifest")
	for _, torn := range []string{segment, manifest} {
		whole, err := os.ReadFile(torn)
		if err != nil {
			t.Fatal(err)
		}
		each := len(whole) / len(names)
		for cut := 0; cut <= len(whole); cut += 1 + cut%7 {
			folder := t.TempDir()
			for _, path := range []string{segment, manifest} {
				data, err := os.ReadFile(path)
				if path == torn {
					data = append(data[:cut:cut], "rest"[:cut%5%4]...)
				}
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, filepath.Base(path)), data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, folder, nil)
			if err := keep(t.Context(), s, "new", []byte("new")); err != nil {
				t.Fatalf("keep after a cut at %d: %v", cut, err)
			}
			for i, name := range names {
				got, err := stored(t, s, name)
				there := cut >= (i+1)*each
				if there && (got != strings.Repeat(name, 10) || err != nil) || !there && !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("%s cut at %d: blob %s is %q, error %v", filepath.Ext(torn), cut, name, got, err)
				}
			}
			if got, err := stored(t, open(t, folder, nil), "new"); got != "new" || err != nil {
				t.Fatalf("%s cut at %d: what was kept later is %q, error %v", filepath.Ext(torn), cut, got, err)
			}
			checkCut(t, folder, torn, each, cut)
		}
	}
}

// checkCut checks that nothing is left of what no blob has, after a cut.
func checkCut(t *testing.T, folder, torn string, each, cut int) {
	t.Helper()
	info, err := os.Stat(filepath.Join(folder, filepath.Base(torn)))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(torn, ".manifest") && info.Size()%int64(each) != 0 {
		t.Errorf("the manifest, cut at %d, has %d bytes later", cut, info.Size())
	}
}

// What is removed is not left in the file of others.
func TestSegmentRemove(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, nil)
	for _, name := range []string{"first", "second", "third"} {
		if err := keep(t.Context(), s, name, []byte("secret of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	path := onlyFile(t, folder, ".segment")
	if err := s.Remove(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("secret of second")) || !bytes.Contains(data, []byte("secret of third")) {
		t.Errorf("the segment has %q, error %v", data, err)
	}
	if err := errors.Join(s.Remove(t.Context(), "first"), s.Remove(t.Context(), "third")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty segment is left: error %v", err)
	}
}

// FuzzSegment opens folders with hostile files. Nothing that they say leads outside of
// them, and no blob has another name or other bytes than were kept.
func FuzzSegment(f *testing.F) {
	folder := f.TempDir()
	s, err := store.Dir(folder, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := keep(f.Context(), s, name, []byte("content of "+name+"\nend")); err != nil {
			f.Fatal(err)
		}
	}
	read := func(kind string) (name string, data []byte) {
		found, _ := filepath.Glob(folder + "/*" + kind)
		data, err := os.ReadFile(found[0])
		if err != nil {
			f.Fatal(err)
		}
		return filepath.Base(found[0]), data
	}
	segment, content := read(".segment")
	manifest, entries := read(".manifest")
	f.Add(content, entries, uint16(0), byte(0))
	f.Add(content[:len(content)-1], entries[:len(entries)-1], uint16(16), byte(1))
	f.Add(content, append(bytes.Clone(entries), entries...), uint16(40), byte(255))
	f.Fuzz(func(t *testing.T, content, entries []byte, at uint16, change byte) {
		entries = bytes.Clone(entries)
		store.Tamper(entries, int(at), change) // an entry that has a right checksum
		folder := t.TempDir()
		err := os.WriteFile(filepath.Join(folder, segment), content, 0o600)
		if err = errors.Join(err, os.WriteFile(filepath.Join(folder, manifest), entries, 0o600)); err != nil {
			t.Fatal(err)
		}
		s := open(t, folder, nil)
		for info, err := range s.List(t.Context()) {
			if err != nil || info.Size > int64(len(content)) {
				t.Fatalf("list has %+v, error %v", info, err)
			}
		}
		for _, name := range []string{"a", "b"} {
			got, err := stored(t, s, name)
			if err == nil && got != "content of "+name+"\nend" || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s is %q, error %v", name, got, err)
			}
		}
		if err := keep(t.Context(), s, "new", []byte("new")); err != nil {
			t.Fatal(err)
		}
		if got, err := stored(t, s, "new"); got != "new" || err != nil {
			t.Fatalf("what was kept is %q, error %v", got, err)
		}
	})
}
