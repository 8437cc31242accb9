//go:build unix

package mark_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
	"github.com/toolpost/toolpost/stdtool/internal/mark"
)

// What left the group of a command is found by its mark, as is what it starts.
func TestMark(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("environments are not shown here")
	}
	for name, script := range map[string]string{
		"nothing is left":   `:`,
		"one heeds SIGTERM": `setsid sleep 1000 &`,
		"one does not":      `trap "" TERM; setsid sh -c "setsid sleep 1000 & setsid sleep 1000 & wait" &`,
	} {
		ours, other := mark.New(), mark.New()
		cmd := exec.Command("/bin/sh", "-c", script)
		procgroup.Lead(cmd)
		cmd.Env = append(os.Environ(), string(ours))
		ended := make(chan error)
		if err := procgroup.Start(cmd, func(err error) { ended <- err }); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(time.Minute)
		for name != "nothing is left" && !ours.Found() { // it may be changing to another program
			if time.Now().After(deadline) {
				t.Fatalf("%s: it is not found", name)
			}
			runtime.Gosched()
		}
		if name == "nothing is left" && (ours.Found() || !ours.Ends(time.Second)) {
			t.Errorf("%s: something is found", name)
		}
		if other.Found() || !other.Ends(time.Second) {
			t.Errorf("%s: another mark is found", name)
		}
		// A process of another program that is changing to another program may have the
		// mark, as far as Ends knows: End has waited for it, and Found is certain.
		if !ours.End(50*time.Millisecond) || ours.Found() {
			t.Errorf("%s: something is left", name)
		}
	}
}

func BenchmarkMark(b *testing.B) {
	ours := mark.New()
	for b.Loop() {
		if !ours.Ends(0) {
			b.Fatal("it is found")
		}
	}
}
