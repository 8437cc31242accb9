//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import "golang.org/x/sys/unix"

const (
	getMode        = unix.TIOCGETA
	setMode        = unix.TIOCSETA
	setModeAndDrop = unix.TIOCSETAF
)
