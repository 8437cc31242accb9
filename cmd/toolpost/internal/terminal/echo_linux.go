package terminal

import "golang.org/x/sys/unix"

const (
	getMode        = unix.TCGETS
	setMode        = unix.TCSETS
	setModeAndDrop = unix.TCSETSF
)
