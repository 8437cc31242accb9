package stdtool

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// makeFolders makes a directory and those above it. Undo removes the ones that it
// made, unless something was put into them meanwhile. After an error there is
// nothing to undo.
func makeFolders(root *os.Root, name string) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			_ = root.Remove(dir) // it stays if it is not empty
		}
	}
	at := "."
	for part := range strings.SplitSeq(name, "/") {
		at = join(at, part)
		err := root.Mkdir(at, 0o777)
		if err == nil {
			made = append(made, at)
			continue
		}
		if errors.Is(err, fs.ErrExist) {
			var info fs.FileInfo
			if info, err = root.Stat(at); err == nil && !info.IsDir() {
				err = &fs.PathError{Op: "mkdir", Path: at, Err: syscall.ENOTDIR}
			}
		}
		if err != nil {
			undo()
			return nil, err
		}
	}
	return undo, nil
}
