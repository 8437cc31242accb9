//go:build !windows

package owner

import (
	"context"
	"os/exec"
)

// shellCommand runs a line in the shell.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}
