//go:build unix || windows

package procgroup_test

import (
	"io"
	"testing"

	"github.com/toolpost/toolpost/internal/procgroup"
)

// End ends an Output while the pipe is still open. Everything that was written
// before can still be read.
func TestOutput(t *testing.T) {
	o, theirs, err := procgroup.Pipe()
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
