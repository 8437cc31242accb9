//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"os"
	"syscall"
)

// Try takes a lock that ends with the file: when it is closed, or when its
// process dies. It does not wait. Each opening of a file counts by itself, also
// within one process.
func Try(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrHeld
		case nil:
			return nil
		default:
			return err
		}
	}
}

// Release gives the lock up. Closing the file is not enough while a process that
// is just being started still has it.
func Release(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
