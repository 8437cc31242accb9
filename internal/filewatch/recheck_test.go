package filewatch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Changes are noticed without events of the system.
func TestRecheckWithoutEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	replace := func(text string) error {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(file+".new", file)
	}
	before := time.Now().Add(-time.Hour)
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"made", func() error { return os.WriteFile(file, []byte("one"), 0o600) }},
		{"longer", func() error { return os.WriteFile(file, []byte("three"), 0o600) }},
		{"as long, at another time", func() error { return os.Chtimes(file, before, before) }},
		{"another file of the same size and time", func() error {
			if err := replace("fives"); err != nil {
				return err
			}
			return os.Chtimes(file, before, before)
		}},
		{"removed", func() error { return os.Remove(file) }},
	} {
		w := &watcher{paths: []string{file}}
		w.seen = statAll(w.paths)
		w.open()
		defer w.close()
		if w.recheck() {
			t.Errorf("before it is %s, it has changed", change.name)
		}
		if err := change.do(); err != nil {
			t.Fatal(err)
		}
		if !w.recheck() {
			t.Errorf("it is not noticed that the file is %s", change.name)
		}
	}
}
