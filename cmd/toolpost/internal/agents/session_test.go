package agents

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLastSession is the one that was used last, whenever it began.
func TestLastSession(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := sessionDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"20260101-000000-aaaa": time.Hour, "20260102-000000-bbbb": time.Minute, "20260103-000000-cccc": 2 * time.Hour} {
		file := filepath.Join(dir, name+sessionEnd)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	f := sessionFlags{resume: lastSession}
	if file, err := f.find(); err != nil || sessionID(file) != "20260102-000000-bbbb" {
		t.Errorf("the last session is %q, %v", file, err)
	}
}
