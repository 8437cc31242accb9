package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync"
	"syscall"

	"github.com/toolpost/toolpost/internal/filelock"
)

// Dir returns a Store in a folder, which is created if it is not there. It is
// for the owner only, and may be used by several processes, each of which sees
// to the limits when it keeps something. Files that crashed writers left behind
// are removed. Nothing needs to be closed.
func Dir(path string, opts *Options) (Store, error) {
	d := &dir{path: path, room: room{limits: opts.withDefaults(2 << 30)}}
	d.buffers.New = func() any { return new([bufferSize]byte) }
	root, err := d.root()
	if err == nil {
		err = d.clean(root)
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return d, nil
}

type dir struct {
	path    string
	room    room
	buffers sync.Pool // of *[bufferSize]byte

	mu     sync.Mutex
	opened *os.Root // the folder when it was used last; the garbage collector closes it
	is     fs.FileInfo
}

// root opens the folder, unless it is open: it may have been deleted, and come
// back. Names lead nowhere else.
func (d *dir) root() (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	info, err := os.Stat(d.path)
	if err != nil || d.opened == nil || !os.SameFile(info, d.is) {
		if err := os.MkdirAll(d.path, 0o700); err != nil {
			return nil, err
		}
		if d.opened, err = os.OpenRoot(d.path); err != nil {
			return nil, err
		}
		if info, err = d.opened.Stat("."); err != nil {
			return nil, err
		}
		d.is = info
	}
	if info.Mode().Perm()&0o002 != 0 && os.Getuid() >= 0 { // Windows has no such bits
		return nil, fmt.Errorf("%w: everybody may write to its folder; use one of your own, or chmod o-w", fs.ErrPermission)
	}
	return d.opened, nil
}

const (
	blobSuffix = ".blob"
	tempSuffix = ".blob-new"
)

// file returns the name of a blob's file. Blobs whose names differ in case only
// have different files everywhere, and no name is special to a system.
func file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:]) + blobSuffix
}

func (d *dir) Create(ctx context.Context, name string) (Writer, error) {
	w, err := d.create(ctx, name)
	if err != nil {
		return nil, failure("create", name, unwritable(err))
	}
	return w, nil
}

func (d *dir) create(ctx context.Context, name string) (*dirWriter, error) {
	if err := begin(ctx, name); err != nil {
		return nil, err
	}
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	if err := d.free(root, name); err != nil {
		return nil, err
	}
	return &dirWriter{store: d, root: root, name: name}, nil
}

// free checks that a name is not taken.
func (d *dir) free(root *os.Root, name string) error {
	_, err := d.look(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fs.ErrExist
}

// look finds the file of a blob, unless it has expired.
func (d *dir) look(root *os.Root, name string) (blobFile, error) {
	info, err := root.Lstat(file(name))
	if err != nil {
		return blobFile{}, err
	}
	f := blobFile{file(name), info.Size(), info.ModTime()}
	if d.room.expire(root, f) {
		return blobFile{}, fs.ErrNotExist
	}
	return f, nil
}

// ifThere is the error of removing what another may have removed.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d *dir) Open(ctx context.Context, name string) (Blob, error) {
	b, err := d.open(ctx, name)
	if err != nil {
		return nil, failure("open", name, err)
	}
	return b, nil
}

func (d *dir) open(ctx context.Context, name string) (*dirBlob, error) {
	if err := begin(ctx, name); err != nil {
		return nil, err
	}
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	f, err := d.look(root, name)
	if err != nil {
		return nil, err
	}
	b, err := readBlob(root, f.name)
	if err == nil {
		if err = b.index.verify(b.file); err != nil {
			_ = b.Close() // it was read
		}
	}
	if errors.Is(err, errDamaged) {
		drop(root, f.name, &f.used)
		return nil, fmt.Errorf("%w, and removed: %w", err, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	// Neither stands in the way of reading: a lock that is not to be had is that
	// of the writer, or of who removes the file, which can be read nevertheless;
	// and a folder may be there to read only.
	_ = filelock.Try(b.file, false)
	b.info.Used = now()
	_ = root.Chtimes(f.name, b.info.Used, b.info.Used)
	return b, nil
}

func (d *dir) Remove(ctx context.Context, name string) error {
	err := begin(ctx, name)
	if err == nil {
		err = d.remove(name)
	}
	if err != nil {
		return failure("remove", name, err)
	}
	return nil
}

func (d *dir) remove(name string) error {
	root, err := d.root()
	if err != nil {
		return err
	}
	f, err := d.look(root, name)
	if err != nil {
		return err
	}
	if err := root.Remove(f.name); err != nil {
		return err
	}
	return syncFolder(root)
}

func (d *dir) List(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := d.list(ctx, yield); err != nil {
			yield(Info{}, fmt.Errorf("list store: %w", err))
		}
	}
}

// list yields until the caller stops it, or it fails.
func (d *dir) list(ctx context.Context, yield func(Info, error) bool) error {
	root, err := d.root()
	if err != nil {
		return err
	}
	files, err := blobFiles(root)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.room.expire(root, f) {
			continue
		}
		b, err := readBlob(root, f.name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		if err := b.Close(); err != nil {
			return err
		}
		if !yield(b.info, nil) {
			return nil
		}
	}
	return nil
}

// A dirBlob is an open file.
type dirBlob struct {
	file  *os.File
	index *index
	info  Info
	once  sync.Once
}

// readBlob opens a file of a blob.
func readBlob(root *os.Root, name string) (*dirBlob, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe that another user put there
	if err != nil {
		return nil, err
	}
	b, err := newDirBlob(f, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

func newDirBlob(f *os.File, name string) (*dirBlob, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errDamaged
	}
	x, of, err := parse(f, info.Size())
	if err != nil {
		return nil, err
	}
	if file(of.Name) != name {
		return nil, errDamaged
	}
	of.Used = info.ModTime()
	return &dirBlob{file: f, index: x, info: of}, nil
}

func (b *dirBlob) Info() Info { return b.info }

func (b *dirBlob) ReadAt(p []byte, at int64) (int, error) {
	n, err := io.NewSectionReader(b.file, 0, b.info.Size).ReadAt(p, at) // the trailer is not for readers
	if err != nil && err != io.EOF {
		err = failure("read", b.info.Name, err)
	}
	return n, err
}

func (b *dirBlob) Line(n int64) (int64, error) {
	at, err := b.index.find(b, n)
	if err != nil {
		return 0, failure("read", b.info.Name, err)
	}
	return at, nil
}

func (b *dirBlob) Close() (err error) {
	b.once.Do(func() { err = b.file.Close() })
	return err
}
