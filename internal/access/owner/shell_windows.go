package owner

import (
	"context"
	"os/exec"
	"syscall"
)

// shellCommand runs a line in the shell. The line is passed as it is: cmd.exe does not
// know the quoting that package exec applies to arguments.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /S /C "` + line + `"`}
	return cmd
}
