//go:build unix && !linux

package procgroup

import (
	"os/exec"
	"syscall"
)

// Lead makes the command the leader of a group. Nothing signals it when this
// process is killed; it then sees the end of its input.
func Lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Detach is Lead for a command without a terminal, where nothing can ask for a
// password.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// zombies need not be looked for: here they cannot be signalled.
func zombies(int) bool { return false }
