package trust_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

func approve(t *testing.T, s *trust.Store, file, digest string) {
	t.Helper()
	if err := s.Approve(&trust.Approval{File: file, Digest: digest, Servers: map[string]string{"a": "1"}, Time: time.Unix(1, 0).UTC()}); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	s := trust.NewStore(filepath.Join(t.TempDir(), "config", "trusted"))
	if a, err := s.Lookup("/a"); a != nil || err != nil {
		t.Fatal(a, err)
	}
	if all, err := s.List(); len(all) > 0 || err != nil {
		t.Fatal(all, err)
	}
	approve(t, s, "/b", "x")
	approve(t, s, "/a", "y")
	approve(t, s, "/b", "z")
	want := []*trust.Approval{
		{File: "/a", Digest: "y", Servers: map[string]string{"a": "1"}, Time: time.Unix(1, 0).UTC()},
		{File: "/b", Digest: "z", Servers: map[string]string{"a": "1"}, Time: time.Unix(1, 0).UTC()},
	}
	all, err := s.List()
	if err != nil || !cmp.Equal(all, want) {
		t.Errorf("%v, %s", err, cmp.Diff(want, all))
	}
	if !s.Approved("/b", "z") || s.Approved("/b", "x") || s.Approved("/c", "") || s.Approved("/b", "") {
		t.Error("the wrong content is approved")
	}
	if found, err := s.Revoke("/b"); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := s.Revoke("/b"); found || err != nil || s.Approved("/b", "z") {
		t.Error(found, err)
	}
}

// Approvals that are made at the same time are all kept.
func TestStoreConcurrent(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	const n = 50
	for i := range n {
		all.Go(func() { approve(t, trust.NewStore(dir), fmt.Sprintf("/%d", i%(n/2)), fmt.Sprint(i)) })
	}
	all.Wait()
	list, err := trust.NewStore(dir).List()
	if len(list) != n/2 || err != nil {
		t.Errorf("%d approvals are left, %v", len(list), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != n/2 {
		t.Errorf("%d files are left", len(entries))
	}
}

func TestStoreBroken(t *testing.T) {
	s := trust.NewStore(t.TempDir())
	approve(t, s, "/a", "x")
	for _, text := range []string{"", "{", `{"file": "/other", "digest": "x"}`, `[]`} {
		if err := os.WriteFile(s.Path("/a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := s.Lookup("/a"); a != nil || err != nil && !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%q: %v, %v", text, a, err)
		}
		if list, err := s.List(); len(list) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
	approve(t, s, "/a", "x") // a new approval repairs it
	if !s.Approved("/a", "x") {
		t.Error("not approved")
	}
}

// A file is remembered by its folder, whichever way leads there, and by its name.
func TestLocate(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, err := range []error{os.Mkdir("real", 0o700), os.WriteFile("real/f", nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if os.Symlink("real", "link") != nil || os.Symlink("real/f", "g") != nil {
		t.Skip("no links here")
	}
	for path, want := range map[string]string{"real/f": "real/f", "link/f": "real/f", "link/../real/./f": "real/f", "g": "g"} {
		if got, err := trust.Locate(path); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("Locate(%q) = %q, %v", path, got, err)
		}
	}
	if _, err := trust.Locate("none/f"); err == nil {
		t.Error("a folder that does not exist has a place")
	}
}

// The temporary file of an approval that was killed is removed by a later one.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	left, old := filepath.Join(dir, atomicfile.TempName()), time.Now().Add(-2*time.Hour)
	if err := errors.Join(os.WriteFile(left, nil, 0o600), os.Chtimes(left, old, old)); err != nil {
		t.Fatal(err)
	}
	approve(t, trust.NewStore(dir), "/a", "x")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v are there, %v", entries, err)
	}
}
