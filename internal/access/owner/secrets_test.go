package owner

import (
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
