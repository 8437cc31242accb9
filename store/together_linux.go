//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package store

import (
	"os"
	"syscall"
	"unsafe"
)

// writeTogether writes as much of the pages as the system takes at once, and returns how
// many bytes: a file system does less for each of them than when each page is written alone.
func writeTogether(f *os.File, pages [][]byte, at int64) (n int64) {
	vector := make([]syscall.Iovec, len(pages))
	for i, p := range pages {
		vector[i].Base = unsafe.SliceData(p)
		vector[i].SetLen(len(p))
	}
	c, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = c.Control(func(fd uintptr) { // it fails if f is closed, as does what follows
		written, _, errno := syscall.Syscall6(syscall.SYS_PWRITEV, fd, uintptr(unsafe.Pointer(unsafe.SliceData(vector))), uintptr(len(vector)), uintptr(at), 0, 0)
		if errno == 0 {
			n = int64(written)
		}
	})
	return n
}
