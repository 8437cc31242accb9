package procgroup

import (
	"os"
	"syscall"
)

// interrupt ends a read of a pipe that is under way. Closing the pipe instead would wait
// for the reader.
func interrupt(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(handle uintptr) { _ = syscall.CancelIoEx(syscall.Handle(handle), nil) })
	}
}
