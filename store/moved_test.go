package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func openDir(t *testing.T, folder string) *dir {
	t.Helper()
	s, err := Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*dir)
}

func read(t *testing.T, s Store, name string) {
	t.Helper()
	b, err := s.Open(t.Context(), name)
	if err == nil {
		err = b.Close()
	}
	if err != nil {
		t.Errorf("open %s: %v", name, err)
	}
}

// findText fails if a file of a folder has the text.
func findText(t *testing.T, folder, text string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(folder, path))
		if bytes.Contains(b, []byte(text)) {
			t.Errorf("%s is still in %s", text, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, s Store) (names []string) {
	t.Helper()
	for info, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

// A small blob that was read is in one place, and is removed as a whole.
func TestRemoveMoved(t *testing.T) {
	folder := t.TempDir()
	s := openDir(t, folder)
	keepSmall(t, s, "secret")
	keepSmall(t, s, "other")
	read(t, s, "secret")
	if err := s.Remove(t.Context(), "secret"); err != nil {
		t.Fatal(err)
	}
	findText(t, folder, "secret")
	read(t, s, "other")
}

// A process crashed when it had given a small blob a file: it is in both places, and is
// removed from both. It is listed once.
func TestRemoveHalfMoved(t *testing.T) {
	folder := t.TempDir()
	s := openDir(t, folder)
	keepSmall(t, s, "secret")
	keepSmall(t, s, "other")
	root, err := s.root()
	if err != nil {
		t.Fatal(err)
	}
	where, err := s.find(root, "secret")
	if err != nil {
		t.Fatal(err)
	}
	_, data, err := readSmall(root, where, true)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, file("secret")), data, 0o600)
	}
	if err == nil {
		if all := listed(t, s); len(all) != 2 {
			t.Errorf("%q are listed", all)
		}
		err = s.Remove(t.Context(), "secret")
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "secret"); err == nil {
		t.Error("it is there again")
	}
	findText(t, folder, "secret")
}

// Those who read a small blob at the same time all find it, though the first of them moves it.
func TestReadTogether(t *testing.T) {
	s := openDir(t, t.TempDir())
	for i := range 50 {
		name := fmt.Sprint("b", i)
		keepSmall(t, s, name)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { read(t, s, name) })
		}
		all.Wait()
	}
}

// A segment is not removed for its last blob if there is a newer one meanwhile.
func TestDropSegmentInUse(t *testing.T) {
	s := openDir(t, t.TempDir())
	keepSmall(t, s, "newer")
	root, err := s.root()
	if err != nil {
		t.Fatal(err)
	}
	where, err := s.find(root, "newer")
	if err != nil {
		t.Fatal(err)
	}
	if s.dropSegment(root, where.segment) {
		t.Error("the segment was removed")
	}
	read(t, s, "newer")
}

// To an old segment nothing is appended, because what expires in it stays until all does.
func TestSegmentAge(t *testing.T) {
	folder := t.TempDir()
	s := openDir(t, folder)
	keepSmall(t, s, "old")
	s.segments.idle[0].begun = now().Add(-24 * time.Hour)
	keepSmall(t, s, "new")
	if found, _ := filepath.Glob(folder + "/*" + segmentSuffix); len(found) != 2 {
		t.Errorf("%d segments, want 2", len(found))
	}
}

// A manifest of many blobs that are all there is not written anew for each that is added.
func TestManifestLarge(t *testing.T) {
	folder := t.TempDir()
	b := make([]byte, 0, 2*minCompact)
	for i := uint64(0); len(b) < minCompact; i++ {
		var key blobKey
		binary.LittleEndian.PutUint64(key[:], i)
		b = appendLocation(b, key, location{segment: 1, created: now().UnixNano(), length: 1})
	}
	path := filepath.Join(folder, manifestName)
	for name, content := range map[string][]byte{path: b, filepath.Join(folder, segmentName(1)): {0}} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openDir(t, folder)
	s.manifest.compactAt = 0 // for the first
	var last fs.FileInfo
	for i := range 3 {
		keepSmall(t, s, fmt.Sprint(i))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && !os.SameFile(info, last) {
			t.Error("it was written anew")
		}
		last = info
	}
}
