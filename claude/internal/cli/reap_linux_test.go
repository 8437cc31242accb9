package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude/internal/cli"
)

// adopt makes this process the parent of orphans below it, as the first process
// of a container is.
func adopt() {
	const setChildSubreaper = 36
	if _, _, failed := syscall.Syscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); failed != 0 {
		must(0, failed)
	}
}

// closing closes a command that has left a child behind.
func closing() {
	p := must(cli.Start(context.Background(), &cli.Options{Path: os.Args[0], Env: []string{"FAKE_CLI=child=hang,line"}, Grace: time.Hour}))
	must(p.ReadLine())
	must(0, p.WriteLine(nil))
	must(0, p.Close())
}

func adoptAndClose() {
	adopt()
	closing()
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		must(0, fmt.Errorf("a child is left: %v", err))
	}
}

// adoptAndNeglect lets a process close that way, and does not look for orphans.
func adoptAndNeglect() {
	adopt()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_CLI=closing")
	cmd.Stderr = os.Stderr
	must(0, cmd.Run())
	if orphan, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); orphan <= 0 {
		must(0, errors.Join(errors.New("there was no orphan"), err))
	}
}

// Whoever is the parent of orphans, and whether it looks for them: Close ends
// when they have.
func TestOrphans(t *testing.T) {
	for _, mode := range []string{"adopt-and-close", "adopt-and-neglect"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "FAKE_CLI="+mode)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", mode, err, text)
		}
	}
}
