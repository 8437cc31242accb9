package group

import (
	"crypto/rand"
	"syscall"
	"time"
)

// A Mark is a variable in the environment of a command and of all that it
// starts, by which those are found that left its group. It finds some on Linux
// only, and none that took the variable out of their environment.
type Mark string

// NewMark returns a mark that no other command has.
func NewMark() Mark { return Mark("TOOLPOST_COMMAND=" + rand.Text()) }

// Ends waits for the end of all that are marked.
func (m Mark) Ends(patience time.Duration) bool {
	return wait(patience, func() bool { return m.signal(0) })
}

// End ends all that are marked, as the function End does with a group. What
// they start meanwhile is looked for again.
func (m Mark) End(grace time.Duration) bool {
	if !m.signal(syscall.SIGTERM) || m.Ends(grace) {
		return true
	}
	return wait(Reaping, func() bool { return m.signal(syscall.SIGKILL) })
}
