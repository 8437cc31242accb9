//go:build unix

package group_test

import (
	"io"
	"testing"

	"github.com/toolpost/toolpost/internal/group"
)

// An Output ends when it is told to, though the pipe is still open, and keeps
// what was written before.
func TestOutput(t *testing.T) {
	o, theirs, err := group.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	text := make(chan string)
	go func() {
		all, err := io.ReadAll(o)
		if err != nil {
			t.Error(err)
		}
		text <- string(all)
	}()
	if _, err := theirs.WriteString("last words"); err != nil {
		t.Fatal(err)
	}
	o.End()
	o.End()
	if got := <-text; got != "last words" {
		t.Errorf("got %q", got)
	}
}
