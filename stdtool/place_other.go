//go:build !linux

package stdtool

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// A handle is an open folder.
type handle struct{ root *os.Root }

// openHandle opens the folder that name leads to.
func openHandle(root *os.Root, name string) (handle, error) {
	inner, err := root.OpenRoot(name)
	return handle{inner}, err
}

func (h handle) close() { h.root.Close() }

func (h handle) entries() []fs.DirEntry {
	f, err := h.root.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	return entries
}

func (h handle) folder(name string) (handle, error) { return openHandle(h.root, name) }

// file opens a regular file.
func (h handle) file(name string) (*os.File, error) { return openFile(h.root, name) }

// read reads the beginning of a file: all of it, unless it fills buf.
func (h handle) read(name string, buf []byte) (int, error) {
	f, err := h.file(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
