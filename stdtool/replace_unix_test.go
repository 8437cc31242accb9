//go:build linux

package stdtool

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOverwriteRestores: a file with several names that cannot be written whole
// is as it was.
func TestOverwriteRestores(t *testing.T) {
	if os.Getenv("TOOLPOST_OVERWRITE") == "" {
		again := &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}, Env: append(os.Environ(), "TOOLPOST_OVERWRITE=1")}
		p, err := os.StartProcess("/proc/self/exe", []string{os.Args[0], "-test.run=^TestOverwriteRestores$"}, again)
		if err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || !state.Success() {
			t.Errorf("the process with the limit ended with %v (%v)", state, err)
		}
		return
	}
	dir := t.TempDir()
	old := make([]byte, 10_000)
	for i := range old {
		old[i] = byte('a' + i%26)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 12_000, Max: 12_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := overwrite(root, "f", old, make([]byte, 14_000)); err == nil {
		t.Error("more was written than may be")
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != string(old) {
		t.Errorf("the file has %d other bytes (%v)", len(got), err)
	}
}
