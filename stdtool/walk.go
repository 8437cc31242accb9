package stdtool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

var (
	errLimit = errors.New("limit reached") // ends a walk whose output is used up
	errLate  = errors.New("time is up")    // the cause of a context that ends a walk
)

// walk visits everything below dir in order of names, without .git, until
// visit returns errLimit or maxRun is over; late says that it was the latter.
// Folders that cannot be read are left out.
func walk(ctx context.Context, root *os.Root, dir string, visit func(context.Context, string, fs.DirEntry) error) (late bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun, errLate)
	defer cancel()
	err = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name == dir:
			return refusal(name, err)
		case err != nil || name == dir && d.IsDir():
			return nil
		case name == dir:
			if err := regular(name, d.Type()); err != nil {
				return err
			}
		case d.Name() == ".git":
			return skip(d)
		}
		return visit(ctx, name, d)
	})
	if errors.Is(err, errLimit) || errors.Is(err, errLate) {
		return errors.Is(err, errLate), nil
	}
	return false, err
}

// skip leaves out d, with all that is in it if it is a folder.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// below returns name relative to dir.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	if name == dir {
		return path.Base(name)
	}
	return name[len(dir)+1:]
}

func lateNote() string { return fmt.Sprintf("\n[stopped after %v: narrow it with path]\n", maxRun) }
