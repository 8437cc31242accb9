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
	"sync/atomic"
)

var (
	errLimit = errors.New("limit reached") // ends a walk whose output is used up
	errLate  = errors.New("time is up")    // the cause of a context that ends a walk
)

// A place is an open folder. It is closed when nobody uses it any more.
type place struct {
	root  *os.Root
	users atomic.Int32
}

func newPlace(root *os.Root) *place {
	p := &place{root: root}
	p.users.Store(1)
	return p
}

func (p *place) hold() { p.users.Add(1) }

func (p *place) release() {
	if p.users.Add(-1) == 0 {
		p.root.Close()
	}
}

// An entry is a file or folder that a walk has come to.
type entry struct {
	name  string // from the root on
	file  string // in the folder that it is in
	mode  fs.FileMode
	size  int64  // of a regular file
	place *place // that folder, open until visit returns or longer if it is held
}

// A walk visits what is below a folder in order of names, without .git and,
// unless all is set, without what .gitignore files exclude.
type walk struct {
	root  *os.Root
	all   bool
	visit func(context.Context, entry) error // fs.SkipDir: not what is in it; errLimit: no more
}

// run visits what is below dir, or dir itself if it is a file, until maxRun is
// over; late says that it was. Folders that cannot be read are left out.
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
		return refusal(dir, err)
	}
	if !info.IsDir() {
		return w.file(ctx, dir, info)
	}
	root, err := w.root.OpenRoot(dir)
	if err != nil {
		return refusal(dir, err)
	}
	p := newPlace(root)
	defer p.release()
	return w.folder(ctx, p, dir, w.around(dir))
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
	root, err := w.root.OpenRoot(path.Dir(target))
	if err != nil {
		return refusal(name, err)
	}
	p := newPlace(root)
	defer p.release()
	return w.visit(ctx, entry{name, path.Base(target), info.Mode(), info.Size(), p})
}

// around returns the rules of the folders that dir is in.
func (w *walk) around(dir string) *ignores {
	if w.all || dir == "." {
		return nil
	}
	dir = path.Dir(dir)
	g := w.around(dir)
	root, err := w.root.OpenRoot(dir)
	if err != nil {
		return g
	}
	defer root.Close()
	return g.inside(root, dir)
}

// folder visits what is in p.
func (w *walk) folder(ctx context.Context, p *place, dir string, outer *ignores) error {
	entries := readFolder(p.root)
	rules := outer
	if !w.all {
		rules = outer.inside(p.root, dir)
	}
	for _, d := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name := path.Join(dir, d.Name())
		if d.Name() == ".git" || rules.ignored(name, d.IsDir()) {
			continue
		}
		err := w.visit(ctx, entry{name, d.Name(), d.Type(), sizeOf(d), p})
		if err == nil && d.IsDir() {
			err = w.into(ctx, p, d.Name(), name, rules)
		}
		if err != nil && err != fs.SkipDir {
			return err
		}
	}
	return nil
}

func sizeOf(d fs.DirEntry) int64 {
	if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

func (w *walk) into(ctx context.Context, p *place, file, name string, rules *ignores) error {
	root, err := p.root.OpenRoot(file)
	if err != nil {
		return nil
	}
	inner := newPlace(root)
	defer inner.release()
	return w.folder(ctx, inner, name, rules)
}

// readFolder returns what is in a folder, in order of names.
func readFolder(root *os.Root) []fs.DirEntry {
	f, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
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
