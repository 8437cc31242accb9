package stdtool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/keylock"
)

// maxChanged is the size of the largest file that is changed.
const maxChanged = 64 << 20

// A Workspace has the tools for the files under a root: read, list, glob, grep, write, edit,
// multi_edit and move. It is a [toolpost.Toolset] of all of them, and has a method for each.
// They share its locks: one tool at a time changes the files of a directory. Its methods may
// be called concurrently.
type Workspace struct {
	toolpost.Base
	root  *os.Root
	locks *keylock.Locks
	swept sweeps
}

// NewWorkspace returns a Workspace over root, which the caller closes.
func NewWorkspace(root *os.Root) *Workspace {
	return &Workspace{root: root, locks: new(keylock.Locks)}
}

// Tools returns all tools of the workspace.
func (f *Workspace) Tools(context.Context) ([]*toolpost.Tool, error) {
	return append(f.ReadOnly(), f.Write(), f.Edit(), f.MultiEdit(), f.Move()), nil
}

// ReadOnly returns the tools that look at files and change nothing: read, list, glob and
// grep.
func (f *Workspace) ReadOnly() toolpost.Tools {
	return toolpost.Tools{f.Read(), f.List(), f.Glob(), f.Grep()}
}

// A document is a file that is about to be changed, or made.
type document struct {
	folder  *Workspace
	given   string      // as the caller names it
	name    string      // without symbolic links
	info    fs.FileInfo // nil if it is to be made
	content []byte
	unlock  func()

	converted bool // what replaces content is in another encoding
}

// open reads the file that given names, if it is there, and keeps others from
// changing it until unlock.
func (f *Workspace) open(ctx context.Context, given string) (*document, error) {
	name, err := localPath(f.root, given)
	if err != nil {
		return nil, err
	}
	target, err := f.target(name)
	if err != nil {
		return nil, err
	}
	unlock, err := f.lockFolders(ctx, path.Dir(target), path.Dir(target))
	if err != nil {
		return nil, err
	}
	d := &document{folder: f, given: name, name: target, unlock: unlock}
	if err := d.load(ctx); err != nil {
		d.unlock()
		return nil, err
	}
	return d, nil
}

// target returns name without symbolic links, if it may be changed.
func (f *Workspace) target(name string) (string, error) {
	target, err := resolve(f.root, name)
	if err == nil {
		err = checkChangeable(name, name)
	}
	if err == nil {
		err = checkChangeable(name, target)
	}
	return target, err
}

func (d *document) load(ctx context.Context) error {
	info, err := d.folder.root.Lstat(d.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return readError(d.given, err)
	}
	if err := regular(d.given, info.Mode()); err != nil {
		return err
	}
	switch {
	case info.Size() > maxChanged:
		return toolpost.Failed.Errorf("%q has %d bytes: files of more than %d bytes cannot be changed", d.given, info.Size(), maxChanged)
	case info.Mode().Perm()&0o200 == 0:
		return toolpost.Failed.Errorf("%q is read-only: ask the user to make it writable", d.given)
	}
	f, err := openFile(d.folder.root, d.name)
	if err != nil {
		return err
	}
	if links(info) > 1 { // the other names may be in other directories
		err = d.lockLinks(ctx, f)
	} else {
		defer f.Close()
	}
	if err != nil {
		return err
	}
	if d.info, err = f.Stat(); err != nil {
		return readError(d.given, err)
	}
	if d.content, err = io.ReadAll(io.LimitReader(f, maxChanged+1)); err != nil {
		return readError(d.given, err)
	}
	return nil
}

// lockLinks locks a file that has more than one name. It closes the file with
// the document.
func (d *document) lockLinks(ctx context.Context, f *os.File) error {
	leave, err := d.folder.locks.Lock(ctx, "")
	if err != nil {
		f.Close()
		return err
	}
	names := d.unlock
	d.unlock = func() { release(f); leave(); names() }
	if err := waitForLock(ctx, d.given, f); ctx.Err() != nil || errors.As(err, new(*toolpost.ToolError)) {
		return err
	}
	return nil // the file system may have no locks
}

// guard refuses a change of something else than what the caller has read.
func (d *document) guard(hash string) error {
	if hash == "" || strings.HasPrefix(contentHash(d.content), strings.ToLower(hash)) && d.info != nil {
		return nil
	}
	return toolpost.Retry.Errorf("%q has changed since expected_hash was computed: read it again", d.given)
}

func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// resolve follows the symbolic links of name, also those of its folders. The
// file itself need not be there. The result is a name in root, or is refused
// by root when it is used.
func resolve(root *os.Root, name string) (string, error) {
	at, rest := ".", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		if rest[0] == ".." && at == "." {
			return "", escapes(name)
		}
		rest = rest[1:]
		target, err := readLink(root, next)
		switch {
		case err != nil:
			return "", readError(name, err)
		case target == "":
			at = next
			continue
		case path.IsAbs(target):
			return "", escapes(name)
		}
		if hops++; hops > 40 {
			return "", toolpost.Failed.Errorf("%q is part of a loop of symbolic links: give another path", name)
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}

// readLink returns the target of a symbolic link, with slashes; "" if name is not
// one.
func readLink(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil || info.Mode()&fs.ModeSymlink == 0:
		return "", err
	}
	target, err := root.Readlink(name)
	return filepath.ToSlash(target), err
}

func escapes(name string) error {
	return toolpost.Failed.Errorf("%q leads out of the served folder through a symbolic link: give a path inside it", name)
}
