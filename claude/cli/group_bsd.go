//go:build unix && !linux

package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a group. Nothing signals it when
// this process is killed; it then sees the end of its input.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// zombies need not be looked for: here they cannot be signalled.
func zombies(int) bool { return false }
