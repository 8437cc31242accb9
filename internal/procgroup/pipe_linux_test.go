package procgroup_test

import (
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
)

// A command writes 256 KiB before it waits for its reader, if not too many others may: a
// pipe that has ended leaves its place.
func TestPipeHolds(t *testing.T) {
	for range 100 {
		ours, theirs, err := procgroup.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ours.Enlarge()
		theirs.Close()
		ours.End()
	}
	ours, theirs, err := procgroup.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ours.Enlarge()
	defer ours.End()
	defer theirs.Close()
	if err := theirs.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := theirs.Write(make([]byte, 256<<10)); err != nil {
		t.Errorf("%d bytes are written: %v", n, err)
	}
}
