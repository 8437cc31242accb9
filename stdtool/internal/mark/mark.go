// Package mark finds the processes that a command started and that left its process group.
package mark

import (
	"crypto/rand"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
)

// A Mark is a variable in the environment of a command and of all that it
// starts, by which those are found that left its group. It finds some on Linux
// only, and none that took the variable out of their environment.
type Mark string

// New returns a mark that no other command has.
func New() Mark { return Mark("TOOLPOST_COMMAND=" + rand.Text()) }

// Ends waits for the end of all that are marked.
func (m Mark) Ends(patience time.Duration) bool {
	return procgroup.Wait(patience, func() bool { return m.signal(0) })
}

// End ends all that are marked, as [procgroup.End] ends a group. What
// they start meanwhile is looked for again.
func (m Mark) End(grace time.Duration) bool {
	if !m.signal(syscall.SIGTERM) || m.Ends(grace) {
		return true
	}
	return procgroup.Wait(procgroup.Reaping, func() bool { return m.signal(syscall.SIGKILL) })
}
