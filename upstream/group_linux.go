package upstream

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a group that ends with us. The
// signal is SIGTERM, which package runners hand on to the server they run;
// SIGKILL would end only the runner.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
