package stdtool

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames, and never replaces what another program has put at to meanwhile
// if the file system can do that.
func (f *Workspace) renameNew(from, to string) error {
	a, err := f.root.Open(path.Dir(from))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := f.root.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer b.Close()
	err = unix.Renameat2(int(a.Fd()), path.Base(from), int(b.Fd()), path.Base(to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return f.root.Rename(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
