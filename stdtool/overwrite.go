package stdtool

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost"
)

// overwrite writes in place. If that fails, the file gets back what it had; if
// this process is killed meanwhile, a copy of that is left.
func (d *document) overwrite(dir *os.Root, file string, content []byte) error {
	if int64(len(d.content)) < d.info.Size() {
		return toolpost.Failed.Errorf("%q can only be written in place, and is too large for that: ask the user to change it", d.given)
	}
	f, err := dir.OpenFile(file, os.O_WRONLY|doNotWait, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	where, remove, err := copyOf(dir, file, d.content)
	if err != nil {
		return err
	}
	if err := d.checkUnchanged(); err != nil {
		remove()
		return err
	}
	if err = writeWhole(f, content); err != nil && writeWhole(f, d.content) != nil {
		return toolpost.Failed.Errorf("%q is damaged, because it could not be written completely: %v; its old content is in %s. Tell the user", d.given, err, where)
	}
	remove() // the file holds what it should
	return err
}

// copyOf keeps what a file holds while it is written in place: beside it, or if
// its directory takes no new file, in the user's cache. Without either there is
// no copy.
func copyOf(dir *os.Root, file string, content []byte) (where string, remove func(), err error) {
	name := "." + file[:min(len(file), 200)] + ".toolpost-" + rand.Text()[:8]
	err = recoverable(dir, name, content)
	if err == nil {
		return "the file " + name + " beside it", func() { _ = dir.Remove(name) }, nil
	}
	if !needsInPlace(err) {
		return "", nil, err
	}
	const nowhere = "no other file"
	cache, err := cacheFolder("saved")
	if err != nil {
		return nowhere, func() {}, nil
	}
	saved, err := os.OpenRoot(cache)
	if err != nil {
		return nowhere, func() {}, nil
	}
	if recoverable(saved, name, content) != nil {
		saved.Close()
		return nowhere, func() {}, nil
	}
	return filepath.Join(cache, name), func() { _ = saved.Remove(name); saved.Close() }, nil
}

// cacheFolder returns a folder for this program in the user's cache, and makes it.
func cacheFolder(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "toolpost", name)
	return cache, os.MkdirAll(cache, 0o700)
}

// recoverable writes a copy that outlasts a crash.
func recoverable(dir *os.Root, name string, content []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(writeWhole(f, content), f.Close()); err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	syncFolder(dir)
	return nil
}
