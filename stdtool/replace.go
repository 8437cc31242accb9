package stdtool

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/toolpost/toolpost"
)

// save makes content the file's content: all of it or, if that fails, nothing.
// A file with several names keeps them, and is written in place; so is one whose
// attributes we may not give to another.
func (d *document) save(content []byte) error {
	err := d.unchanged()
	if err != nil {
		return err
	}
	dir, file, err := d.parent()
	if err != nil {
		return err
	}
	defer dir.Close()
	err = errInPlace
	if d.info == nil || links(d.info) <= 1 {
		err = d.replace(dir, file, content)
	}
	if errors.Is(err, errInPlace) {
		err = d.overwrite(dir, file, content)
	}
	if err != nil {
		return unwritten(d.given, err)
	}
	return nil
}

// errInPlace says that a file can only be kept what it is where it is.
var errInPlace = errors.New("it must be written in place")

// unchanged refuses to overwrite what another process has written meanwhile.
func (d *document) unchanged() error {
	now, err := d.folder.root.Lstat(d.name)
	switch {
	case d.info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case d.info != nil && err == nil && os.SameFile(now, d.info) && now.Size() == d.info.Size() && now.ModTime().Equal(d.info.ModTime()):
		return nil
	}
	return toolpost.Retry("%q was changed by another program just now: read it again", d.given)
}

// parent opens the folder of the file, and makes it if needed.
func (d *document) parent() (dir *os.Root, file string, err error) {
	folder, file := path.Split(d.name)
	folder = path.Clean(folder)
	if d.info == nil {
		if err := d.folder.root.MkdirAll(folder, 0o777); err != nil {
			return nil, "", unwritten(d.given, err)
		}
	}
	if dir, err = d.folder.root.OpenRoot(folder); err != nil {
		return nil, "", unwritten(d.given, err)
	}
	return dir, file, nil
}

// replace writes a new file beside the old one and gives it the old name.
func (d *document) replace(dir *os.Root, file string, content []byte) (err error) {
	var old *os.File
	if d.info != nil { // who may not write the file may often still replace it
		if old, err = dir.OpenFile(file, os.O_WRONLY, 0); err != nil {
			return err
		}
		defer old.Close()
	}
	name := ".toolpost-" + rand.Text()
	mode := fs.FileMode(0o666)
	if d.info != nil { // until it has the mode of the old one, nobody else reads it
		mode = 0o600
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.Remove(name))
		}
	}()
	_, err = f.Write(content)
	if err == nil && d.info != nil {
		err = keep(f, old, d.info)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = dir.Rename(name, file); err != nil {
		return err
	}
	syncFolder(dir)
	return nil
}

// keep makes f what the file is that it replaces.
func keep(f, old *os.File, was fs.FileInfo) error {
	if err := keepMode(f, was); err != nil {
		return err
	}
	if keepAttributes(f, old) != nil {
		return errInPlace
	}
	return nil
}

// overwrite writes in place. If that fails, the file gets back what it had; if
// this process is ended meanwhile, a copy of that lies beside it.
func (d *document) overwrite(dir *os.Root, file string, content []byte) error {
	if int64(len(d.content)) < d.info.Size() {
		return toolpost.Failed("%q must be written in place, and is too large for that", d.given)
	}
	f, err := dir.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	name := "." + file[:min(len(file), 200)] + ".toolpost-" + rand.Text()[:8]
	if err := recoverable(dir, name, d.content); err != nil {
		return err
	}
	if err = fill(f, content); err != nil && fill(f, d.content) != nil {
		return toolpost.Failed("%q is damaged, since it could not be written: %v; what it held is in %q beside it", d.given, err, name)
	}
	_ = dir.Remove(name) // the file holds what it should; the copy does no harm
	return err
}

// recoverable writes a copy that outlasts a crash.
func recoverable(dir *os.Root, name string, content []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(fill(f, content), f.Close()); err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	syncFolder(dir)
	return nil
}

// fill makes content all that is in f.
func fill(f *os.File, content []byte) error {
	_, err := f.WriteAt(content, 0)
	if err == nil {
		err = f.Truncate(int64(len(content)))
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// syncFolder makes a new name outlast a crash, where folders can be synced.
func syncFolder(dir *os.Root) {
	if f, err := dir.Open("."); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// unwritten says why name was not written. The root's own folder is not told.
func unwritten(name string, err error) error {
	var o *toolpost.Outcome
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &o):
		return o
	case errors.Is(err, fs.ErrPermission):
		return toolpost.Failed("%q may not be written: permission denied", name)
	case errors.As(err, &p):
		return toolpost.Failed("%q cannot be written: %v", name, p.Err)
	case errors.As(err, &l):
		return toolpost.Failed("%q cannot be written: %v", name, l.Err)
	}
	return toolpost.Failed("%q cannot be written", name)
}
