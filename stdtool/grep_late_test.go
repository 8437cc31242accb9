package stdtool

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
)

// TestGrepLate checks that a search whose time is over within a file does not
// claim that no line matches.
func TestGrepLate(t *testing.T) {
	dir := t.TempDir()
	line := append(bytes.Repeat([]byte("abbababaabbbab"), 300), '\n')
	if err := os.WriteFile(filepath.Join(dir, "f"), bytes.Repeat(line, 16_000), 0o600); err != nil { // 67 MB
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, mode := range []string{"content", "files", "count"} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errLate)
		r, err := NewWorkspace(root).Grep().Handler(ctx, &toolpost.Call{Arguments: json.RawMessage(`{"pattern":"[ab]*a[ab]{15}[cd]","mode":"` + mode + `"}`)})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := r.FirstText(); strings.Contains(text, "no matches") || !strings.Contains(text, "stopped after") {
			t.Errorf("%s: %q", mode, text)
		}
	}
}
