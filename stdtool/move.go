package stdtool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
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
		from, err := f.entry(in.From)
		if err != nil {
			return "", err
		}
		to, err := f.entry(in.To)
		if err != nil {
			return "", err
		}
		if to == from || strings.HasPrefix(to, from+"/") {
			return "", toolpost.Retry("to %q is the same as from %q or inside it: give another path as to", in.To, in.From)
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
// If it is one itself, that is moved, and not what it leads to.
func (f *Workspace) entry(given string) (string, error) {
	name, err := localPath(f.root, given)
	if err != nil {
		return "", err
	}
	if name == "." {
		return "", toolpost.Retry("%q is the served folder itself, which cannot be moved", given)
	}
	dir, err := f.target(path.Dir(name))
	if err != nil {
		return "", err
	}
	name = path.Join(dir, path.Base(name))
	return name, checkChangeable(given, name)
}

func (f *Workspace) rename(from, to string) error {
	if _, err := f.root.Lstat(from); err != nil {
		return readError(from, err)
	}
	switch _, err := f.root.Lstat(to); {
	case err == nil:
		return toolpost.Retry("%q already exists and is not overwritten: give a new path, including the name", to)
	case !errors.Is(err, fs.ErrNotExist):
		return readError(to, err)
	}
	undo, err := makeFolders(f.root, path.Dir(to))
	if err != nil {
		return writeError(to, err)
	}
	if err := atomicfile.Retry(func() error { return f.root.Rename(from, to) }); err != nil {
		undo()
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
