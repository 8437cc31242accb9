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

// keepMode gives f the mode of the file that it replaces, and the owner if we
// may; without the owner, the mode does not let others act as one.
func keepMode(f *os.File, was fs.FileInfo) error {
	mode := was.Mode()
	if s, ok := was.Sys().(*syscall.Stat_t); !ok || f.Chown(int(s.Uid), int(s.Gid)) != nil {
		mode = mode.Perm()
	}
	return f.Chmod(mode)
}
