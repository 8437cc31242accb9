package stdtool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/filelock"
)

// lockExactly locks an existing directory. It returns nothing if there is another
// one by that name once it has the lock.
func (f *Workspace) lockExactly(ctx context.Context, dir string) (unlock func(), err error) {
	leave, err := f.locks.Lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	file, err := f.lockProcesses(ctx, dir)
	if err != nil {
		leave()
		return nil, err
	}
	unlock = func() { release(file); leave() }
	if f.nearest(dir) == dir && f.leadsTo(dir, file) {
		return unlock, nil
	}
	unlock()
	return nil, nil
}

// lockFolders keeps every tool of this process and of other processes from
// changing what is in two directories, which may be one. If one does not exist
// yet, the nearest one above it is locked. All who lock two take them in the same
// order, in which a directory comes before what is in it.
func (f *Workspace) lockFolders(ctx context.Context, a, b string) (unlock func(), err error) {
	for {
		a, b := f.nearest(a), f.nearest(b)
		if b == "." || a != "." && b < a {
			a, b = b, a
		}
		first, err := f.lockExactly(ctx, a)
		if err != nil || first != nil && f.isSameDirectory(a, b) {
			return first, err
		}
		if first == nil {
			continue
		}
		second, err := f.lockExactly(ctx, b)
		if second != nil {
			return func() { second(); first() }, nil
		}
		if first(); err != nil {
			return nil, err
		}
	}
}

// isSameDirectory reports whether two names lead to one directory.
func (f *Workspace) isSameDirectory(a, b string) bool {
	one, err := f.root.Stat(a)
	if err != nil || a == b {
		return a == b
	}
	other, err := f.root.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// nearest returns dir, or the nearest directory above it that exists.
func (f *Workspace) nearest(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if info, err := f.root.Stat(dir); err == nil && info.IsDir() {
			break
		}
	}
	return dir
}

// leadsTo reports whether dir is the directory that was locked. A stand-in for
// it, or nothing, is never another one.
func (f *Workspace) leadsTo(dir string, locked *os.File) bool {
	if locked == nil {
		return true
	}
	was, err := locked.Stat()
	if err != nil || !was.IsDir() {
		return err == nil
	}
	now, err := f.root.Stat(dir)
	return err == nil && os.SameFile(was, now)
}

// lockProcesses locks a directory against other processes. Where directories
// have no locks, a file in the user's cache stands for it; without one too,
// nothing is locked, and only the check before the new content is in place keeps
// the edits of others.
func (f *Workspace) lockProcesses(ctx context.Context, dir string) (*os.File, error) {
	for _, open := range []func() (*os.File, error){
		func() (*os.File, error) { return f.root.Open(dir) },
		func() (*os.File, error) { return standIn(filepath.Join(f.root.Name(), dir)) },
	} {
		file, err := open()
		if err != nil {
			continue
		}
		switch err := waitForLock(ctx, dir, file); {
		case err == nil:
			return file, nil
		case ctx.Err() != nil || errors.As(err, new(*toolpost.ToolError)):
			file.Close()
			return nil, err
		}
		file.Close()
	}
	return nil, nil
}

// waitForLock takes the lock of an open file, for which it waits a while.
func waitForLock(ctx context.Context, name string, file *os.File) error {
	patient, cancel := context.WithTimeoutCause(ctx, maxRun, errLate)
	defer cancel()
	err := filelock.Wait(patient, file)
	if errors.Is(err, errLate) {
		return toolpost.Retry.Errorf("%q is locked by another program: try again later", name)
	}
	return err
}

// standIn opens the file that stands for a directory that cannot be locked.
func standIn(dir string) (*os.File, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cache, err := cacheFolder("locks")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.ToLower(dir)))
	return os.OpenFile(filepath.Join(cache, hex.EncodeToString(sum[:16])), os.O_RDWR|os.O_CREATE, 0o600)
}

func release(file *os.File) {
	if file != nil {
		filelock.Release(file)
		file.Close()
	}
}
