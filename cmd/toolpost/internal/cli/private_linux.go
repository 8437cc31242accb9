package cli

import (
	"fmt"
	"syscall"
)

// KeepPrivate hides the environment and the memory of this process from other
// processes of the same user, such as the servers and commands that it starts:
// the secrets of all servers are there. Root still sees them.
func KeepPrivate() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0); errno != 0 {
		return fmt.Errorf("hide the environment from the programs that toolpost starts: %w", errno)
	}
	return nil
}
