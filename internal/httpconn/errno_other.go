//go:build !windows

package httpconn

import "syscall"

// ErrRefused is the error of an address at which nothing listens.
const ErrRefused = syscall.ECONNREFUSED
