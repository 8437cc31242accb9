// Package procgroup starts commands in process groups, and ends a group whole, with everything
// that its command started. A group lives no longer than this process.
package procgroup

import (
	"os/exec"
	"runtime"
	"time"
)

// Reaping bounds the wait for what was killed.
const Reaping = 5 * time.Second

// Start starts a command, and calls ended with what [exec.Cmd.Wait] returns.
// Both happen on one OS thread, which lives until ended returns: the signal at
// this process's death is sent when the thread that started the command ends.
func Start(cmd *exec.Cmd, ended func(error)) error {
	if err := quoteForBatch(cmd); err != nil {
		return err
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended(cmd.Wait())
		}
	}()
	return <-started
}

// Stop waits until a command is gone, all that it started included, for at most
// patience. Then it sends SIGTERM to the group, and after a grace SIGKILL. It
// reports whether gone was closed.
func Stop(pid int, gone <-chan struct{}, patience, grace time.Duration) bool {
	for _, signal := range []func(pid int) bool{Terminate, Kill} {
		if closes(gone, patience) {
			return true
		}
		if signal(pid) {
			patience = grace
		}
	}
	return closes(gone, 2*grace+2*Reaping) // its end may have begun its own steps only now
}

// closes reports whether a channel is closed within the patience.
func closes(c <-chan struct{}, patience time.Duration) bool {
	select {
	case <-c:
		return true
	default:
	}
	select {
	case <-c:
		return true
	case <-time.After(patience):
		return false
	}
}

// End ends what is left of a group whose leader was waited for: SIGTERM, after
// a grace SIGKILL. It returns whether nothing is left.
func End(pid int, grace time.Duration) bool {
	if Terminate(pid) && Ends(pid, grace) {
		return true
	}
	return !Kill(pid) || Ends(pid, Reaping)
}

// Ends waits for the end of a group whose leader was waited for.
func Ends(pid int, patience time.Duration) bool {
	return Wait(patience, func() bool { return alive(pid) })
}

// Wait waits until some reports false, for at most patience. It reports whether some did.
func Wait(patience time.Duration, some func() bool) bool {
	const longest = 50 * time.Millisecond
	end := time.Now().Add(patience)
	for pause := time.Millisecond; some(); pause = min(2*pause, longest) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
