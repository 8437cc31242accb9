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
	"syscall"
	"time"
)

var (
	errLimit = errors.New("limit reached") // ends a walk whose output is used up
	errLate  = errors.New("time is up")    // the cause of a context that ends a walk
)

// An entry is a file or folder that a walk has come to.
type entry struct {
	name  string // from the root on
	file  string // in the folder that it is in
	mode  fs.FileMode
	place *place // that folder, open until visit returns or longer if it is held
}

// A walk visits the entries below a folder in order of names, without .git and,
// unless all is set, without what .gitignore files exclude.
type walk struct {
	root  *os.Root
	all   bool
	visit func(context.Context, entry) error // fs.SkipDir skips a folder; errLimit ends the walk

	excluded bool // .gitignore files excluded something
}

// run visits the entries below dir, or dir itself if it is a file, for at most
// maxRun; late reports that the time was over. Folders that cannot be read are left
// out.
func (w *walk) run(ctx context.Context, dir string) (late bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun, errLate)
	defer cancel()
	err = w.start(ctx, dir)
	if errors.Is(err, errLimit) || errors.Is(err, errLate) {
		return errors.Is(err, errLate), nil
	}
	return false, err
}

func (w *walk) start(ctx context.Context, dir string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := w.root.Stat(dir)
	if err != nil {
		return readError(dir, err)
	}
	if !info.IsDir() {
		return w.file(ctx, dir, info)
	}
	h, err := openHandle(w.root, dir)
	if err != nil {
		return readError(dir, err)
	}
	return w.folder(ctx, h, dir, w.rulesAbove(dir))
}

// file visits one file, also if dir is a symbolic link to it.
func (w *walk) file(ctx context.Context, name string, info fs.FileInfo) error {
	if err := regular(name, info.Mode()); err != nil {
		return err
	}
	target, err := resolve(w.root, name)
	if err != nil {
		return err
	}
	h, err := openHandle(w.root, path.Dir(target))
	if err != nil {
		return readError(name, err)
	}
	p := newPlace(h)
	defer p.release()
	return w.visit(ctx, entry{name, path.Base(target), info.Mode(), p})
}

// rulesAbove returns the rules of the folders that dir is in.
func (w *walk) rulesAbove(dir string) *ignores {
	if w.all || dir == "." {
		return nil
	}
	dir = path.Dir(dir)
	return w.rulesAbove(dir).inside(w.root, dir)
}

// folder visits the entries of h, and closes it.
func (w *walk) folder(ctx context.Context, h handle, dir string, rules *ignores) error {
	p := newPlace(h)
	defer p.release()
	entries := p.entries()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if !w.all && (dir == "." || slices.ContainsFunc(entries, hasIgnores)) {
		rules = rules.inside(w.root, dir)
	}
	for _, d := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name := join(dir, d.Name())
		if d.Name() == ".git" {
			continue
		}
		if rules.isIgnored(name, d.IsDir()) {
			w.excluded = true
			continue
		}
		err := w.visit(ctx, entry{name, d.Name(), d.Type(), p})
		if err == nil && d.IsDir() {
			err = w.into(ctx, p, d.Name(), name, rules)
		}
		if err != nil && err != fs.SkipDir {
			return err
		}
	}
	return nil
}

func (w *walk) into(ctx context.Context, p *place, file, name string, rules *ignores) error {
	h, err := patiently(ctx, func() (handle, error) { return p.folder(file) })
	switch {
	case outOfFiles(err):
		return readError(name, err)
	case err != nil:
		return nil // it has gone, or is not for us
	}
	return w.folder(ctx, h, name, rules)
}

// outOfFiles reports whether the process, or the system, has no file descriptor left.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// patiently opens something. Where no file descriptor is left it waits for one,
// for a while: others give theirs back soon.
func patiently[T any](ctx context.Context, open func() (T, error)) (opened T, err error) {
	for range 400 {
		if opened, err = open(); !outOfFiles(err) || ctx.Err() != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return opened, err
}

// join returns the path of an entry of dir.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// relativeTo returns name relative to dir.
func relativeTo(dir, name string) string {
	if dir == "." {
		return name
	}
	if name == dir {
		return path.Base(name)
	}
	return name[len(dir)+1:]
}

func lateNote() string {
	return fmt.Sprintf("\n[stopped after %v: search a smaller part with path]\n", maxRun)
}
