package procgroup

import (
	"os"
	"syscall"
)

// pipeSize is four times what a pipe holds otherwise. A command that writes more than fits
// waits for its reader, and wakes it, each time.
const pipeSize = 256 << 10

// enlarge lets a pipe hold more. Without it, or where the user may have no more, reading
// only takes longer.
func enlarge(pipe *os.File) {
	if c, err := pipe.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETPIPE_SZ, pipeSize)
		})
	}
}
