package main

import (
	"fmt"
	"syscall"
)

// keepPrivate hides the environment and the memory of this process, where the
// secrets are that commands do not get, from processes of the same user.
func keepPrivate() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0); errno != 0 {
		return fmt.Errorf("hide the environment from commands: %w", errno)
	}
	return nil
}
