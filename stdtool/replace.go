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
// A file with several names keeps them, and is written in place.
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
	switch {
	case d.info == nil || links(d.info) <= 1:
		err = d.replace(dir, file, content)
	case int64(len(d.content)) < d.info.Size():
		return toolpost.Failed("%q has several names and is too large to be written in place", d.given)
	default:
		err = overwrite(dir, file, d.content, content)
	}
	if err != nil {
		return unwritten(d.given, err)
	}
	return nil
}

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
	if d.info != nil { // who may not write the file may often still replace it
		old, err := dir.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		old.Close()
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
		err = keepMode(f, d.info)
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

// overwrite writes in place. If that fails, the file gets back what it had: that
// needs no more room than before.
func overwrite(dir *os.Root, file string, old, content []byte) error {
	f, err := dir.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err = fill(f, content); err != nil {
		err = errors.Join(err, fill(f, old))
	}
	return errors.Join(err, f.Close())
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
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return toolpost.Failed("%q may not be written: permission denied", name)
	case errors.As(err, &p):
		return toolpost.Failed("%q cannot be written: %v", name, p.Err)
	case errors.As(err, &l):
		return toolpost.Failed("%q cannot be written: %v", name, l.Err)
	}
	return toolpost.Failed("%q cannot be written", name)
}
