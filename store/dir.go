package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sort"
	"sync"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
)

// Dir returns a Store in a folder, which is created if it is not there. It is
// for the owner only, and may be used by several processes, each of which sees
// to the limits when it keeps something. Files that crashed writers left behind
// are removed. Nothing needs to be closed.
//
// A blob of more than 2 MiB, or one that was opened, has a file of its own. Others share
// files, the segments, and the manifest says where they are.
func Dir(path string, opts *Options) (Store, error) {
	d := &dir{path: path, room: room{limits: opts.withDefaults(2 << 30)}}
	d.manifest.reset()
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
	path     string
	room     room
	manifest manifest
	segments segments
	buffers  sync.Pool // of *[bufferSize]byte

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
		_, err = d.find(root, name)
	}
	if err == nil {
		return fs.ErrExist
	}
	return ifThere(err)
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
	if errors.Is(err, fs.ErrNotExist) {
		b, moved, err := d.openSmall(root, name)
		if !moved {
			return b, err
		}
		if f, err = d.look(root, name); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return d.openFile(root, f)
}

// openFile opens the file of a blob, which is used from now on.
func (d *dir) openFile(root *os.Root, f blobFile) (*dirBlob, error) {
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
	if file, ok := b.file.(*os.File); ok {
		_ = filelock.Try(file, false)
	}
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
	// It may be in both places: a process may have crashed while it moved it.
	small := d.removeSmall(root, name)
	if ifThere(small) != nil {
		return small
	}
	f, err := d.look(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return small
	}
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
	all, err := d.everything(root)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := d.describe(root, e)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		if !yield(info, nil) {
			return nil
		}
	}
	return nil
}

// A stored blob is in a file of its own, or in a segment.
type stored struct {
	blobFile
	location // if the file has no name
}

// everything returns what is stored, oldest use first. What is moved meanwhile is found in
// both places, and counts once.
func (d *dir) everything(root *os.Root) ([]stored, error) {
	small, err := d.manifest.all(root)
	if err != nil {
		return nil, err
	}
	files, err := blobFiles(root)
	if err != nil {
		return nil, err
	}
	all := make([]stored, 0, len(files)+len(small))
	for _, f := range files {
		if _, ok := segmentOf(f.name); !ok {
			all = append(all, stored{blobFile: f})
			delete(small, keyOfFile(f.name))
		}
	}
	for _, where := range small {
		all = append(all, stored{blobFile{used: time.Unix(0, where.created)}, where})
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name), cmp.Compare(a.offset, b.offset)) < 0
	})
	return all, nil
}

// describe returns what is known of a stored blob.
func (d *dir) describe(root *os.Root, s stored) (Info, error) {
	if s.name == "" {
		if !d.isThere(root, s.location) {
			return Info{}, fs.ErrNotExist
		}
		b, _, err := readSmall(root, s.location, false)
		if err != nil {
			return Info{}, err
		}
		return b.info, nil
	}
	if d.room.expire(root, s.blobFile) {
		return Info{}, fs.ErrNotExist
	}
	b, err := readBlob(root, s.name)
	if err != nil {
		return Info{}, err
	}
	return b.info, b.Close()
}

// A dirBlob is an open file, or what was read of a segment.
type dirBlob struct {
	file interface {
		io.ReaderAt
		io.Closer
	}
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
