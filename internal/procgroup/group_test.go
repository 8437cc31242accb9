//go:build unix

package procgroup_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
)

// start runs a shell script, and returns its group when it has ended.
func start(t *testing.T, script string, lead func(*exec.Cmd)) (pid int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	lead(cmd)
	ended := make(chan error)
	if err := procgroup.Start(cmd, func(err error) { ended <- err }); err != nil {
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
		for how, lead := range map[string]func(*exec.Cmd){"Lead": procgroup.Lead, "Detach": procgroup.Detach} {
			pid := start(t, script, lead)
			if gone := procgroup.Ends(pid, 0); gone != (name == "nothing is left") {
				t.Errorf("%s, %s: gone before: %v", name, how, gone)
			}
			if !procgroup.End(pid, 50*time.Millisecond) || !procgroup.Ends(pid, 0) {
				t.Errorf("%s, %s: something is left", name, how)
			}
		}
	}
}

func TestStartFails(t *testing.T) {
	cmd := exec.Command("/nonexistent")
	if err := procgroup.Start(cmd, func(error) { t.Error("it has ended") }); err == nil {
		t.Error("a command that is not there was started")
	}
}
