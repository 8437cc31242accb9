//go:build !windows

package upstream

import "syscall"

// Errors of the system when a server cannot be reached.
const (
	connReset       = syscall.ECONNRESET
	hostUnreachable = syscall.EHOSTUNREACH
)
