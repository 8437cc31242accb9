package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// Try takes a lock that ends with the file: when it is closed, or when its
// process dies. It does not wait. Each opening of a file counts by itself, also
// within one process.
func Try(f *os.File, exclusive bool) error {
	const failImmediately, exclusively = 1, 2
	how := uintptr(failImmediately)
	if exclusive {
		how |= exclusively
	}
	// Windows forbids to read and write what is locked: it is a byte that no
	// file has.
	far := &syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx").
		Call(f.Fd(), how, 0, 1, 0, uintptr(unsafe.Pointer(far)))
	const lockViolation, ioPending = syscall.Errno(33), syscall.Errno(997)
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation), errors.Is(err, ioPending):
		return ErrHeld
	}
	return err
}

// Release gives the lock up; closing the file does that here.
func Release(*os.File) {}
