//go:build unix && !linux

package stdtool

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a group without a terminal, where
// nothing can ask for a password.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// zombies need not be looked for: here they cannot be signalled.
func zombies(int) bool { return false }
