package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

func TestRead(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := atomicfile.Read(path, 5); string(data) != "12345" || err != nil {
		t.Errorf("5 of at most 5 bytes: %q, %v", data, err)
	}
	if data, err := atomicfile.Read(path, 4); data != nil || err == nil || !strings.Contains(err.Error(), "larger than 4 bytes") {
		t.Errorf("5 of at most 4 bytes: %q, %v", data, err)
	}
	if _, err := atomicfile.Read(folder, 5); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := atomicfile.Read(filepath.Join(folder, "none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if runtime.GOOS == "linux" { // Linux reports its size as 0
		if data, err := atomicfile.Read("/proc/self/maps", 10); data != nil || err == nil {
			t.Errorf("a file of unknown size: %q, %v", data, err)
		}
	}
}
