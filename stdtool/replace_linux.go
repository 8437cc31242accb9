package stdtool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// isOpenElsewhere reports whether another descriptor has a file open: then the system
// gives no lease for it. Where it gives none to anybody, the answer is no.
func isOpenElsewhere(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}

// keepAttributes gives f the extended attributes of the file that it replaces,
// and no others: access control lists, labels, and what users have set.
func keepAttributes(f, old *os.File) error {
	to, from := int(f.Fd()), int(old.Fd())
	want, err := attributes(from)
	if err != nil {
		return err
	}
	have, err := attributes(to)
	if err != nil {
		return err
	}
	for _, name := range have {
		if !slices.Contains(want, name) { // it is that of new files in the folder
			if err := unix.Fremovexattr(to, name); err != nil {
				return err
			}
		}
	}
	for _, name := range want {
		value, err := readXattr(from, name)
		if err != nil {
			return err
		}
		if now, err := readXattr(to, name); err == nil && bytes.Equal(now, value) {
			continue
		}
		if err := unix.Fsetxattr(to, name, value, 0); err != nil {
			return err
		}
	}
	return nil
}

// attributes returns the names of those that stay when a file is written to.
// The others describe its content, or give rights to it.
func attributes(fd int) ([]string, error) {
	list, err := readSized(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	names := strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "security.capability" || name == "security.ima" || name == "security.evm"
	}), err
}

func readXattr(fd int, name string) ([]byte, error) {
	return readSized(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
}

// readSized returns what get puts into a slice, which reports the length that
// it needs if there is none.
func readSized(get func([]byte) (int, error)) ([]byte, error) {
	n, err := get(nil)
	if n <= 0 || err != nil {
		return nil, err
	}
	b := make([]byte, n)
	n, err = get(b)
	return b[:max(n, 0)], err
}

// namelessTemp makes a file without a name, which not every file system can.
func namelessTemp(dir *os.Root, mode fs.FileMode) (*tempFile, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	fd, err := retryInterrupted(func() (int, error) {
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
