package stdtool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool/internal/encodings"
)

// localPath returns name as a clean path with slashes, relative to the root, as the
// files are spelled. An absolute path is taken if it leads into the root.
func localPath(root *os.Root, name string) (string, error) {
	clean, err := cleanPath(root, name)
	if err != nil {
		return "", err
	}
	return existing(root, clean), nil
}

// cleanPath is localPath with the spelling of name.
func cleanPath(root *os.Root, name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if filepath.IsAbs(name) || path.IsAbs(clean) {
		inside, ok := relativeToRoot(root, name)
		if !ok {
			return "", toolpost.Retry.Errorf("%q is an absolute path outside the served folder: give a path relative to that folder, such as . for itself", name)
		}
		clean = inside
	}
	switch {
	case name == "":
		return ".", nil
	case !filepath.IsLocal(clean):
		return "", toolpost.Retry.Errorf("%q is outside the served folder: give a path inside it", name)
	}
	return clean, nil
}

// relativeToRoot returns an absolute path relative to the root. The root may be reached
// by a symbolic link.
func relativeToRoot(root *os.Root, name string) (string, bool) {
	at, err := filepath.Abs(root.Name())
	if err != nil {
		return "", false
	}
	folders := []string{at}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		folders = append(folders, real)
	}
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, filepath.FromSlash(name)); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// openFile opens a regular file. Whatever else could block or act on being
// opened, such as a pipe or a device, is refused before.
func openFile(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, readError(name, err)
	}
	if err := regular(name, info.Mode()); err != nil {
		return nil, err
	}
	// Non-blocking, in case a pipe took the file's place in between.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, readError(name, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// regular returns an error unless mode is that of a regular file.
func regular(name string, mode fs.FileMode) error {
	switch kind := describeKind(mode); kind {
	case "file":
		return nil
	case "directory":
		return toolpost.Retry.Errorf("%q is a directory: use list to see what is in it", name)
	default:
		return toolpost.Failed.Errorf("%q is a %s: only regular files can be used", name, kind)
	}
}

func describeKind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// readError and writeError return the error for the caller of why name was not
// read or written. It does not contain the path of the root.
func readError(name string, err error) error { return fileError(name, "read", err) }

func writeError(name string, err error) error { return fileError(name, "written", err) }

func fileError(name, done string, err error) error {
	var (
		o *toolpost.ToolError
		p *fs.PathError
		l *os.LinkError
	)
	switch {
	case errors.As(err, &o):
		return o
	case errors.Is(err, fs.ErrNotExist):
		return toolpost.Retry.Errorf("%q does not exist: find the right path with glob", name)
	case errors.Is(err, fs.ErrPermission):
		return toolpost.Failed.Errorf("%q cannot be %s: permission denied. Ask the user to change the permissions", name, done)
	case errors.Is(err, syscall.ENOTDIR):
		return toolpost.Retry.Errorf("%q does not exist: a part of its path is a file, not a directory. Find the right path with glob", name)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return toolpost.Retry.Errorf("%q cannot be used: the name is too long for this file system. Give a shorter name", name)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return toolpost.Failed.Errorf("%q cannot be %s: the disk is full. Nothing was changed; ask the user to free some space, then try again", name, done)
	case outOfFiles(err):
		return toolpost.Failed.Errorf("%q cannot be %s: this process has too many files open. Call again with a narrower path; a person can raise ulimit -n", name, done)
	case errors.As(err, &p) && p.Err.Error() == "path escapes from parent": // os has no value for it
		return escapes(name)
	case errors.As(err, &p):
		return toolpost.Failed.Errorf("%q cannot be %s: %v", name, done, p.Err)
	case errors.As(err, &l):
		return toolpost.Failed.Errorf("%q cannot be %s: %v", name, done, l.Err)
	}
	return toolpost.Failed.Errorf("%q cannot be %s", name, done)
}

// binary reports whether the beginning of a file is not text, unless it is UTF-16.
func binary(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }

// longestShown is the size of a file that is shown whole.
const longestShown = 1 << 20

// ReadExisting returns the content of the file that a path of a tool's arguments
// names, so that a person sees what a call would replace. It does not read long files.
func (f *Workspace) ReadExisting(name string) ([]byte, error) {
	local, err := localPath(f.root, name)
	if err != nil {
		return nil, err
	}
	info, err := f.root.Stat(local)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a file", name)
	case info.Size() > longestShown:
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	content, err := f.root.ReadFile(local)
	if err != nil {
		return nil, err
	}
	return textIn(encodings.Certain(content), content), nil
}
