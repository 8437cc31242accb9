//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An approval that another user can have written does not count.
func TestStoreOfOthers(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "trusted"))
	if err := s.Approve(&Approval{File: "/a", Digest: "x"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.Path("/a"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	if info, err = os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatal(info.Mode(), err)
	}
	if err := os.Chmod(s.Path("/a"), 0o666); err != nil {
		t.Fatal(err)
	}
	if s.Approved("/a", "x") {
		t.Error("it counts")
	}
}

// TestPipeInPlaceOfApproval checks that a pipe is refused, and not waited for.
func TestPipeInPlaceOfApproval(t *testing.T) {
	s := NewStore(t.TempDir())
	if err := syscall.Mkfifo(s.Path("/a"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := s.Lookup("/a"); done <- err }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "is not a file") {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the pipe is waited for")
	}
}

// An approval in a folder in which others can put files does not count, and none is put there.
func TestStoreInOpenFolder(t *testing.T) {
	dir := t.TempDir()
	s := NewStore(dir)
	if err := s.Approve(&Approval{File: "/a", Digest: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if s.Approved("/a", "x") {
		t.Error("an approval in an open folder counts")
	}
	if err := s.Approve(&Approval{File: "/b", Digest: "x"}); err == nil {
		t.Error("an approval is kept in an open folder")
	}
}
