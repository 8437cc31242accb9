package stdtool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/toolpost/toolpost"
)

// save makes content the file's content: all of it or, if that fails, nothing.
// A file is written in place if it has several names, if a new file may not have
// its attributes, or if its directory takes no new file.
func (d *document) save(content []byte) error {
	dir, file, undo, err := d.parent()
	if err != nil {
		return err
	}
	defer dir.Close()
	err = errInPlace
	if d.info == nil || links(d.info) <= 1 {
		err = d.replace(dir, file, content)
	}
	if d.info != nil && needsInPlace(err) {
		err = d.overwrite(dir, file, content)
	}
	if err != nil {
		undo()
		return writeError(d.given, err)
	}
	return nil
}

// errInPlace reports that a file keeps what it is only if it is written in place.
var errInPlace = errors.New("it must be written in place")

// needsInPlace reports whether err is about the directory and not about the file: it
// takes no new file, or the file is a mount.
func needsInPlace(err error) bool {
	return errors.Is(err, errInPlace) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EROFS)
}

// maxCompared is the size up to which a file's content is compared again.
const maxCompared = 1 << 20

// checkUnchanged refuses to overwrite what another program has written since the file
// was read.
func (d *document) checkUnchanged() error {
	now, err := d.folder.root.Lstat(d.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if now == nil && d.info == nil || now != nil && d.info != nil && d.isSame(now) {
		return nil
	}
	return toolpost.Retry.Errorf("%q was just changed by another program: read it again", d.given)
}

// isSame reports whether the file is as it was read. Times may be too coarse for
// that, so small files are read again.
func (d *document) isSame(now fs.FileInfo) bool {
	if !os.SameFile(now, d.info) || now.Size() != d.info.Size() || !now.ModTime().Equal(d.info.ModTime()) {
		return false
	}
	if len(d.content) > maxCompared {
		return true
	}
	content, err := d.folder.root.ReadFile(d.name)
	return err == nil && bytes.Equal(content, d.content)
}

// parent opens the directory of the file. If the file is new, parent makes the
// directory, and undo removes what it made.
func (d *document) parent() (dir *os.Root, file string, undo func(), err error) {
	folder, file := path.Split(d.name)
	folder, undo = path.Clean(folder), func() {}
	if d.info == nil {
		if undo, err = makeFolders(d.folder.root, folder); err != nil {
			return nil, "", nil, writeError(d.given, err)
		}
	}
	if dir, err = d.folder.root.OpenRoot(folder); err != nil {
		undo()
		return nil, "", nil, writeError(d.given, err)
	}
	return dir, file, undo, nil
}

// replace writes a new file and gives it the name of the old one.
func (d *document) replace(dir *os.Root, file string, content []byte) (err error) {
	var old *os.File
	if d.info != nil { // who may not write the file may often still replace it
		if old, err = dir.OpenFile(file, os.O_RDWR|doNotWait, 0); err != nil {
			return err
		}
		defer old.Close()
	}
	d.folder.swept.removeStale(dir, path.Dir(d.name))
	err = errNoLink
	if t, e := namelessTemp(dir, d.tempMode()); e == nil {
		err = d.publish(t, old, file, content)
	}
	if errors.Is(err, errNoLink) {
		var t *tempFile
		if t, err = newNamedTemp(dir, d.tempMode()); err != nil {
			return err
		}
		err = d.publish(t, old, file, content)
	}
	if err != nil {
		return err
	}
	if d.converted { // what is appended is in the old encoding
		old = nil
	}
	at := keepAppended(old, d.content, int64(len(d.content)), dir, file)
	syncFolder(dir)
	for range maxLeaving {
		if !isOpenElsewhere(old) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	keepAppended(old, d.content, at, dir, file) // from programs that had opened the old file
	return nil
}

// maxLeaving is how many milliseconds a program has that opened the old file just
// before, to append to it and close it.
const maxLeaving = 25

// keepAppended adds to the new file what other programs have appended to the old one
// after the first from bytes: they do not wait for the locks of this one. It adds nothing
// if they have changed what the old file began with. It returns up to where the old file
// was kept.
func keepAppended(old *os.File, began []byte, from int64, dir *os.Root, file string) int64 {
	if old == nil {
		return from
	}
	info, err := old.Stat()
	if err != nil || info.Size() <= from || !beginsWith(old, began) {
		return from
	}
	more, err := io.ReadAll(io.NewSectionReader(old, from, min(info.Size()-from, maxChanged)))
	if err != nil {
		return from
	}
	f, err := dir.OpenFile(file, os.O_WRONLY|os.O_APPEND|doNotWait, 0)
	if err != nil {
		return from
	}
	defer f.Close()
	n, _ := f.Write(more)
	_ = f.Sync()
	return from + int64(n)
}

// beginsWith reports whether f begins with content.
func beginsWith(f *os.File, content []byte) bool {
	part := make([]byte, min(len(content), 64<<10))
	for at := 0; at < len(content); {
		n, err := f.ReadAt(part[:min(len(part), len(content)-at)], int64(at))
		if err != nil && n == 0 || !bytes.Equal(part[:n], content[at:at+n]) {
			return false
		}
		at += n
	}
	return true
}

// tempMode keeps others from reading a new file before it has the mode of the
// old one.
func (d *document) tempMode() fs.FileMode {
	if d.info == nil {
		return 0o666
	}
	return 0o600
}

// publish writes content to t, and puts t where the file is to be. The last look
// at the file comes directly before.
func (d *document) publish(t *tempFile, old *os.File, file string, content []byte) error {
	defer t.drop()
	_, err := t.Write(content)
	if err == nil && d.info != nil {
		err = copyIdentity(t.File, old, d.info)
	}
	if err == nil {
		err = t.Sync()
	}
	if err == nil {
		err = d.checkUnchanged()
	}
	switch {
	case err != nil:
		return err
	case d.info != nil:
		return t.replace(file)
	}
	if err = t.create(file); errors.Is(err, fs.ErrExist) {
		return toolpost.Retry.Errorf("%q was just created by another program: read it first", d.given)
	}
	return err
}

// copyIdentity gives f the mode and the attributes of the file that it replaces.
func copyIdentity(f, old *os.File, was fs.FileInfo) error {
	if err := keepMode(f, was); err != nil {
		return err
	}
	if keepAttributes(f, old) != nil {
		return errInPlace
	}
	return nil
}

// writeWhole makes content all that is in f.
func writeWhole(f *os.File, content []byte) error {
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
