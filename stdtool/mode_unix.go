//go:build unix

package stdtool

import (
	"io/fs"
	"os"
	"syscall"
)

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// keepMode gives f the mode, the owner and the group of the file that it replaces. Who
// may not give them away writes in place, which keeps them.
func keepMode(f *os.File, was fs.FileInfo) error {
	s, ok := was.Sys().(*syscall.Stat_t)
	if !ok || f.Chown(int(s.Uid), int(s.Gid)) != nil {
		return errInPlace
	}
	return f.Chmod(was.Mode())
}

// doNotWait opens a pipe that took a file's place without waiting for a reader.
const doNotWait = syscall.O_NONBLOCK
