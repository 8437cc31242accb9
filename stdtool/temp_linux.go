package stdtool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// namelessTemp makes a file without a name, which not every file system can.
func namelessTemp(dir *os.Root, mode fs.FileMode) (*tempFile, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	fd, err := uninterrupted(func() (int, error) {
		return unix.Openat(int(d.Fd()), ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, uint32(mode.Perm()))
	})
	if err != nil {
		return nil, err
	}
	return &tempFile{os.NewFile(uintptr(fd), "new file"), dir, ""}, nil
}

// link gives a file without a name one. Older systems do so only by way of
// /proc, which is not there everywhere.
func link(f *os.File, dir *os.Root, name string) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	err = unix.Linkat(int(f.Fd()), "", int(d.Fd()), name, unix.AT_EMPTY_PATH)
	if err != nil && err != unix.EEXIST {
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), int(d.Fd()), name, unix.AT_SYMLINK_FOLLOW)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	}
	return fmt.Errorf("%w: %w", errNoLink, err)
}
