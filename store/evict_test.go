package store

import (
	"strconv"
	"testing"
)

// What goes because the disk is full is counted once.
func TestRelievedFilesCountOnce(t *testing.T) {
	folder := t.TempDir()
	for i := range 4 {
		s, err := Dir(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(t.Context(), strconv.Itoa(i))
		if err == nil {
			_, err = w.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &s.(*dir).room
	root, err := s.(*dir).root()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if !r.relieve(root, 1) {
		t.Fatal("nothing is removed")
	}
	if err := r.shrink(root, r.size-1); err != nil {
		t.Fatal(err)
	}
	if files, err := blobFiles(root); len(files) != 2 || err != nil {
		t.Errorf("%d files are left, want 2: %v", len(files), err)
	}
}
