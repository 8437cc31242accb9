package owner

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The command of a reference gets its quoted arguments as the shell of the system passes
// them.
func TestReferenceWithQuotes(t *testing.T) {
	line, want := `printf '%s|' "a  b" 'c "d"'`, `a  b|c "d"|`
	if runtime.GOOS == "windows" {
		line, want = `echo "a  b" & echo "%SystemDrive%" "c"`, "\"a  b\" \r\n\"C:\" \"c\""
	}
	if got, err := readOutput(t.Context(), t.TempDir(), line); got != want || err != nil {
		t.Errorf("%s is %q, %v, want %q", line, got, err, want)
	}
}

// A secret ends with the line of its file.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a": " a"} {
		file := filepath.Join(dir, "secret")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readFile(file); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := readFile(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}
