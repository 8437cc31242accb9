//go:build unix

package procgroup

import (
	"os"
	"syscall"
)

// Terminate asks a process group to end; false if there is none.
func Terminate(pid int) bool { return syscall.Kill(-pid, syscall.SIGTERM) == nil }

// Kill kills a process group; false if there is none.
func Kill(pid int) bool { return syscall.Kill(-pid, syscall.SIGKILL) == nil }

// alive must not be called before the leader was waited for. If this is the
// first process of a container, the members of the group are its children by
// then: those that have ended are reaped here.
func alive(pid int) bool {
	some := syscall.Kill(-pid, 0) == nil && !zombies(pid)
	for {
		if reaped, err := syscall.Wait4(-pid, nil, syscall.WNOHANG, nil); reaped <= 0 && err != syscall.EINTR {
			return some
		}
	}
}

// readNow reads what a pipe holds, and does not wait for more.
func readNow(f *os.File, b []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Read(func(fd uintptr) bool {
		for n, err = syscall.Read(int(fd), b); err == syscall.EINTR; {
			n, err = syscall.Read(int(fd), b)
		}
		return true
	}); failed != nil {
		return 0, failed
	}
	return n, err
}
