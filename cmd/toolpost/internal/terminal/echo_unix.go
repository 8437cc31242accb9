//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import "golang.org/x/sys/unix"

// setEcho turns the echo of a terminal on or off. A process in the background leaves the
// terminal alone: the system would stop it.
func setEcho(fd int, on bool) (restore func()) {
	before, err := unix.IoctlGetTermios(fd, getMode)
	group, failed := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil || failed != nil || group != unix.Getpgrp() {
		return func() {}
	}
	mode := *before
	if mode.Lflag |= unix.ECHO; !on {
		mode.Lflag &^= unix.ECHO
	}
	_ = unix.IoctlSetTermios(fd, setMode, &mode) // keys are then shown, or not: no reason to end
	return func() { _ = unix.IoctlSetTermios(fd, setMode, before) }
}

// dropTyped drops keys that nobody has read yet.
func dropTyped(fd int) {
	if mode, err := unix.IoctlGetTermios(fd, getMode); err == nil {
		_ = unix.IoctlSetTermios(fd, setModeAndDrop, mode) // they are then read
	}
}
