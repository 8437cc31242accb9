package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a group, and lets it end with this
// process. SIGTERM lets it end what it started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
