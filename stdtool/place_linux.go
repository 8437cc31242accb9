package stdtool

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// A handle is an open folder in a root. Only what is right in it is opened, by
// a name of its entries, and no link is followed: that leads out as little as
// with os.Root, but without its lstat of each entry and its poller. A search of
// many files is mostly system calls.
type handle struct{ dir *os.File }

// openHandle opens the folder that name leads to.
func openHandle(root *os.Root, name string) (handle, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return handle{}, err
	}
	defer f.Close()
	return handle{f}.folder(".") // files of a Root ask for the size of each entry
}

func (h handle) close() { h.dir.Close() }

func (h handle) entries() []fs.DirEntry {
	entries, _ := h.dir.ReadDir(-1)
	return entries
}

func (h handle) folder(name string) (handle, error) {
	fd, err := h.open(name, syscall.O_DIRECTORY)
	if err != nil {
		return handle{}, err
	}
	return handle{os.NewFile(uintptr(fd), name)}, nil
}

// file opens a regular file.
func (h handle) file(name string) (*os.File, error) {
	fd, err := h.open(name, syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// read reads the beginning of a file: all of it, unless it fills buf.
func (h handle) read(name string, buf []byte) (n int, err error) {
	fd, err := h.open(name, syscall.O_NONBLOCK) // in case a pipe took the file's place
	if err != nil {
		return 0, err
	}
	defer syscall.Close(fd)
	for n < len(buf) {
		k, err := retryInterrupted(func() (int, error) { return syscall.Read(fd, buf[n:]) })
		if k <= 0 || err != nil {
			return n, err
		}
		n += k
	}
	return n, nil
}

func (h handle) open(name string, flags int) (fd int, err error) {
	flags |= syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	return retryInterrupted(func() (int, error) { return syscall.Openat(int(h.dir.Fd()), name, flags, 0) })
}

// retryInterrupted repeats what a signal has interrupted.
func retryInterrupted(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != syscall.EINTR {
			return n, err
		}
	}
}
