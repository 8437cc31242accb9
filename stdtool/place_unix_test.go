//go:build unix

package stdtool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestHandle opens what other programs may have put in the place of an entry.
func TestHandle(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(outside, "secret"): "secret",
		filepath.Join(dir, "file"):       "text of the file",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": outside, "secret": filepath.Join(outside, "secret"), "up": "..", "self": "."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	h, err := openHandle(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()

	for size, want := range map[int]string{4: "text", 100: "text of the file"} {
		buf := make([]byte, size)
		if n, err := h.read("file", buf); err != nil || string(buf[:n]) != want {
			t.Errorf("read %q, %v; want %q", buf[:n], err, want)
		}
	}
	buf := make([]byte, 100)
	for _, name := range []string{"secret", "out", "up", "pipe", "none"} {
		if n, err := h.read(name, buf); n > 0 {
			t.Errorf("%s: read %q, %v; want nothing", name, buf[:n], err)
		}
		if f, err := h.file(name); err == nil {
			f.Close()
			t.Errorf("%s was opened as a file", name)
		}
	}
	for _, name := range []string{"out", "up", "file", "none"} {
		if inner, err := h.folder(name); err == nil {
			inner.close()
			t.Errorf("%s was opened as a folder", name)
		}
	}
	var names []string
	for _, d := range newPlace(h).entries() {
		names = append(names, d.Name()+" "+d.Type().String()[:1])
	}
	slices.Sort(names)
	if got, want := strings.Join(names, ", "), "file -, out L, pipe p, secret L, self L, up L"; got != want {
		t.Errorf("entries %s, want %s", got, want)
	}
	if _, err := openHandle(root, "out"); err == nil {
		t.Error("a link that leads out was opened")
	}
}
