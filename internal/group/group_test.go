//go:build unix

package group_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/group"
)

// start runs a shell script, and returns its group when it has ended.
func start(t *testing.T, script string, lead func(*exec.Cmd)) (pid int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	lead(cmd)
	ended := make(chan error)
	if err := group.Start(cmd, func(err error) { ended <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestEnd(t *testing.T) {
	for name, script := range map[string]string{
		"nothing is left":   `:`,
		"one heeds SIGTERM": `sleep 1000 &`,
		"one does not":      `trap "" TERM; sleep 1000 &`, // what is ignored is so in children
	} {
		for how, lead := range map[string]func(*exec.Cmd){"Lead": group.Lead, "Detach": group.Detach} {
			pid := start(t, script, lead)
			if gone := group.Ends(pid, 0); gone != (name == "nothing is left") {
				t.Errorf("%s, %s: gone before: %v", name, how, gone)
			}
			if !group.End(pid, 50*time.Millisecond) || !group.Ends(pid, 0) {
				t.Errorf("%s, %s: something is left", name, how)
			}
		}
	}
}

func TestStartFails(t *testing.T) {
	cmd := exec.Command("/nonexistent")
	if err := group.Start(cmd, func(error) { t.Error("it has ended") }); err == nil {
		t.Error("a command that is not there was started")
	}
}

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
		mark, other := group.NewMark(), group.NewMark()
		start(t, script, func(cmd *exec.Cmd) {
			group.Lead(cmd)
			cmd.Env = append(os.Environ(), string(mark))
		})
		deadline := time.Now().Add(time.Minute)
		for name != "nothing is left" && !mark.Found() { // it may be changing to another program
			if time.Now().After(deadline) {
				t.Fatalf("%s: it is not found", name)
			}
			runtime.Gosched()
		}
		if name == "nothing is left" && (mark.Found() || !mark.Ends(time.Second)) {
			t.Errorf("%s: something is found", name)
		}
		if other.Found() || !other.Ends(time.Second) {
			t.Errorf("%s: another mark is found", name)
		}
		// A process of another program that is changing to another program may have the
		// mark, as far as Ends knows: End has waited for it, and Found is certain.
		if !mark.End(50*time.Millisecond) || mark.Found() {
			t.Errorf("%s: something is left", name)
		}
	}
}

func BenchmarkMark(b *testing.B) {
	mark := group.NewMark()
	for b.Loop() {
		if !mark.Ends(0) {
			b.Fatal("it is found")
		}
	}
}
