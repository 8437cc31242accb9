// Package atomicfile reads and writes whole files. It writes a file whole or not at all:
// readers and a crash find the old content or the new one.
//
// A file is written under a temporary name and renamed. If a process is killed before
// that, the next write in the same folder removes the temporary file.
package atomicfile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options change how [Write] writes a file.
type Options struct {
	// KeepMode gives the new file the mode of the one that it replaces. Without it,
	// and if there is no file yet, only the owner may read the new file.
	KeepMode bool

	// New makes Write return an error that is [fs.ErrExist] if there is a file already.
	New bool

	// Locked means that the caller keeps all other writers of this file away. Temporary
	// files of it are then removed at once, not only when they are old.
	Locked bool

	// MayBeLost saves the time that makes the new content survive a crash of the system.
	// After one, the file can be empty or incomplete: its readers must notice that.
	MayBeLost bool

	// Check is called right before the file gets its name. An error leaves the old file.
	Check func() error
}

// Write replaces the content of a file. Nil options are the defaults. The folder of the
// file must exist; a symbolic link is replaced, not followed.
func Write(path string, data []byte, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	removeLeftovers(dir, base, opts.Locked)
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil && opts.KeepMode {
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(dir, tempName(base))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode))
	if !opts.MayBeLost {
		err = errors.Join(err, f.Sync())
	}
	err = errors.Join(err, f.Close())
	if err == nil && opts.Check != nil {
		err = opts.Check()
	}
	if err == nil {
		err = publish(temp, path, opts.New)
	}
	if err != nil {
		_ = os.Remove(temp) // it is old some day
		return err
	}
	if !opts.MayBeLost {
		syncFolder(dir)
	}
	return nil
}

// Remove removes a file, and all temporary files of it. The caller keeps all writers of
// the file away.
func Remove(path string) error {
	removeLeftovers(filepath.Dir(path), filepath.Base(path), true)
	return Retry(func() error { return os.Remove(path) })
}

// publish gives a temporary file its name.
func publish(temp, path string, isNew bool) error {
	if !isNew {
		return Rename(temp, path)
	}
	err := os.Link(temp, path)
	if err == nil {
		_ = os.Remove(temp) // it is old some day
		return nil
	}
	if _, there := os.Lstat(path); there == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return Rename(temp, path) // the file system has no links
}

// syncFolder makes a new name survive a crash of the system.
func syncFolder(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return // Windows opens no folders; a rename is durable there
	}
	defer d.Close()
	_ = d.Sync() // not every file system can
}

const (
	tempPrefix = ".toolpost-"
	tempRandom = 26 // characters after the prefix, as of [rand.Text]
	tempOf     = 10 // characters of them that identify the file in [Write]
	staleAfter = time.Hour
)

// TempName returns a new name for a temporary file, which [RemoveStale] knows.
func TempName() string { return tempPrefix + rand.Text() }

// tempName returns a new name for a temporary file of the file with this name.
func tempName(base string) string {
	return tempPrefixOf(base) + rand.Text()[:tempRandom-tempOf]
}

func tempPrefixOf(base string) string {
	sum := sha256.Sum256([]byte(base))
	return tempPrefix + base32.StdEncoding.EncodeToString(sum[:])[:tempOf]
}

// isTemp reports whether a name is one that [TempName] or [Write] makes.
func isTemp(name string) bool {
	text, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(text) == tempRandom && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// removeLeftovers removes stale temporary files of a folder and, if no other process
// can be writing it, every one of the file with this name.
func removeLeftovers(dir, base string, locked bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // the write reports it
	}
	defer root.Close()
	mine := tempPrefixOf(base)
	removeTemps(root, func(name string, written time.Time) bool {
		return locked && strings.HasPrefix(name, mine) || isStale(written)
	})
}

// RemoveStale removes temporary files that processes have left in a folder when they
// were killed. A file of the last hour may still be written, and stays.
func RemoveStale(dir *os.Root) {
	removeTemps(dir, func(_ string, written time.Time) bool { return isStale(written) })
}

func isStale(written time.Time) bool { return time.Since(written) > staleAfter }

func removeTemps(dir *os.Root, isLeft func(name string, written time.Time) bool) {
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // those that could be read
	for _, name := range names {
		if !isTemp(name) {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() && isLeft(name, info.ModTime()) {
			_ = dir.Remove(name) // the next write tries again
		}
	}
}
