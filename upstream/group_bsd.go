//go:build unix && !linux

package upstream

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a group. Nothing signals it when we
// are killed; it then sees the end of its input.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
