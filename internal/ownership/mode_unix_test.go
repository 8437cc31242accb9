//go:build unix

package ownership

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckOwner(t *testing.T) {
	me, other := uint32(os.Geteuid()), uint32(os.Geteuid()+1)
	const foreignGroup = 4_000_000_000
	tests := map[string]struct {
		uid  uint32
		mode fs.FileMode
		want string
	}{
		"own":                 {me, 0o644, ""},
		"the administrator's": {0, 0o444, ""},
		"another user's":      {other, 0o600, "belongs to another user"},
		"open to everybody":   {me, 0o646, "run: chmod go-w"},
		"open to a group":     {me, 0o660, "run: chmod go-w"},
	}
	for name, tt := range tests {
		err := checkOwner("file", tt.uid, foreignGroup, tt.mode)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := Check(file); err == nil {
		t.Error("a file that does not exist passes")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[fs.FileMode]bool{0o600: true, 0o644: true, 0o666: false} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := Check(file); (err == nil) != want || OthersCanWrite(file) == want {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// A folder in which others can put files is not used, whatever is in it.
func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	own, open := filepath.Join(dir, "own"), filepath.Join(dir, "open")
	for _, d := range []string{own, open} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(d, d+"-link"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"own": true, "own-link": true, "open": false, "open-link": false, "file": false, "missing": true} {
		if err := CheckFolder(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(own, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(own); err == nil {
		t.Error("a folder of another user passes")
	}
	if err := os.Lchown(filepath.Join(dir, "open-link"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(filepath.Join(dir, "open-link")); err == nil {
		t.Error("a link of another user passes")
	}
}
