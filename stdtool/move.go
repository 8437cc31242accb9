package stdtool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/atomicfile"
)

type moveInput struct {
	From string `json:"from" jsonschema:"minLength=1,maxLength=4096"`
	To   string `json:"to" jsonschema:"minLength=1,maxLength=4096,description=The new path with the name"`
}

// Move returns the tool move: it gives a file or a folder another path.
func (f *Workspace) Move() *toolpost.Tool {
	return newTool("move", func(ctx context.Context, in moveInput) (string, error) {
		from, err := f.entry(in.From, false)
		if err != nil {
			return "", err
		}
		to, err := f.entry(in.To, true)
		if err != nil {
			return "", err
		}
		if to == from || strings.HasPrefix(to, from+"/") {
			return "", toolpost.Retry.Errorf("to %q is the same as from %q or inside it: give another path as to", in.To, in.From)
		}
		unlock, err := f.lockFolders(ctx, path.Dir(from), path.Dir(to))
		if err != nil {
			return "", err
		}
		defer unlock()
		if err := f.checkContent(ctx, from, to); err != nil {
			return "", err
		}
		if err := f.rename(from, to); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: moved to %s\n", from, to), nil
	}, writing("Move file"))
}

// entry returns the name of a file or a folder without symbolic links above it.
// If it is one itself, that is moved, and not what it leads to. A new name keeps its
// spelling.
func (f *Workspace) entry(given string, isNew bool) (string, error) {
	name, err := cleanPath(f.root, given)
	switch {
	case err != nil:
		return "", err
	case isNew:
		name = path.Join(existing(f.root, path.Dir(name)), path.Base(name))
	default:
		name = existing(f.root, name)
	}
	if name == "." {
		return "", toolpost.Retry.Errorf("%q is the served folder itself, which cannot be moved", given)
	}
	dir, err := f.target(path.Dir(name))
	if err != nil {
		return "", err
	}
	name = path.Join(dir, path.Base(name))
	return name, checkChangeable(given, name)
}

func (f *Workspace) rename(from, to string) error {
	was, err := f.root.Lstat(from)
	if err != nil {
		return readError(from, err)
	}
	respelled := false
	switch there, err := f.root.Lstat(to); {
	case err == nil && os.SameFile(was, there) && !f.isListed(to):
		respelled = true // the file system does not distinguish the names
	case err == nil:
		return toolpost.Retry.Errorf("%q already exists and is not overwritten: give a new path, including the name", to)
	case !errors.Is(err, fs.ErrNotExist):
		return readError(to, err)
	}
	undo, err := makeFolders(f.root, path.Dir(to))
	if err != nil {
		return writeError(to, err)
	}
	move := f.renameNew
	if respelled {
		move = f.root.Rename
	}
	if err := atomicfile.Retry(func() error { return move(from, to) }); err != nil {
		undo()
		if errors.Is(err, fs.ErrExist) {
			return toolpost.Retry.Errorf("%q was just created by another program and is not overwritten: give a new path", to)
		}
		return writeError(to, err)
	}
	for _, name := range []string{path.Dir(to), path.Dir(from)} {
		if dir, err := f.root.OpenRoot(name); err == nil {
			syncFolder(dir)
			dir.Close()
		}
	}
	return nil
}

// isListed reports whether the directory of name lists it with exactly this spelling.
func (f *Workspace) isListed(name string) bool {
	dir, err := f.root.Open(path.Dir(name))
	if err != nil {
		return true // it is not known
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return err != nil || slices.Contains(names, path.Base(name))
}
