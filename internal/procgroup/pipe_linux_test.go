package procgroup_test

import (
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
)

// A command writes 256 KiB before it waits for its reader.
func TestPipeHolds(t *testing.T) {
	ours, theirs, err := procgroup.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.End()
	defer theirs.Close()
	if err := theirs.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := theirs.Write(make([]byte, 256<<10)); err != nil {
		t.Errorf("%d bytes are written: %v", n, err)
	}
}
