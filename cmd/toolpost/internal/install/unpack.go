package install

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

// Bounds of a bundle: a small file can stand for far more than a disk holds.
const (
	maxBundle   = 1 << 30
	maxUnpacked = 4 << 30
	maxFiles    = 100_000
	maxRatio    = 200      // of unpacked to packed, beyond a first part
	maxListing  = 16 << 20 // bytes of the list of files
	freeRatio   = 64 << 20
)

// A bundle is a checked .mcpb file.
type bundle struct {
	file   string
	digest string // of the whole file
	folder string // into which it is unpacked
}

// Folder returns the folder into which a bundle is unpacked, "" if the plan has none.
func (p *Plan) Folder() string {
	if p.bundle == nil {
		return ""
	}
	return p.bundle.folder
}

// Unpack unpacks the bundle of a plan, if it has one. It does nothing if the same
// bundle is unpacked already.
func (p *Plan) Unpack() error {
	if p.bundle == nil {
		return nil
	}
	if err := p.bundle.unpack(); err != nil {
		return fmt.Errorf("unpack the bundle %s: %w", p.bundle.file, err)
	}
	return nil
}

func (b *bundle) unpack() error {
	if _, err := os.Stat(b.folder); err == nil {
		return nil
	}
	f, err := os.Open(b.file)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(f, maxBundle+1))
	if err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != b.digest {
		return errors.New("it has changed meanwhile; run the command again")
	}
	z, err := openArchive(f, size)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.folder), 0o700); err != nil {
		return err
	}
	removeLeft(filepath.Dir(b.folder))
	made, err := os.MkdirTemp(filepath.Dir(b.folder), ".new-*")
	if err != nil {
		return err
	}
	if err = extract(z, made); err == nil {
		err = syncFolders(made)
	}
	if err == nil {
		err = atomicfile.Rename(made, b.folder)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	return nil
}

// openArchive reads the list of the files of an archive, and checks it. The list may be
// far longer than the number of files in it says, so what is read of it is bounded.
func openArchive(r io.ReaderAt, size int64) (*zip.Reader, error) {
	b := &boundedReaderAt{ReaderAt: r, left: maxListing}
	z, err := zip.NewReader(b, size)
	switch {
	case b.left < 0:
		return nil, fmt.Errorf("its list of files has more than %d bytes", maxListing)
	case err != nil:
		return nil, errors.New("it is not a zip file")
	}
	b.left = math.MaxInt64
	return z, checkFiles(z.File, uint64(size))
}

// A boundedReaderAt fails after so many bytes.
type boundedReaderAt struct {
	io.ReaderAt
	left int64
}

func (b *boundedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("too much is read")
	}
	return b.ReaderAt.ReadAt(p, at)
}

// checkFiles refuses files that would be written elsewhere, that are not files,
// and more than the bounds. Size is that of the archive: files that overlap in it are
// not packed together larger than it.
func checkFiles(files []*zip.File, size uint64) error {
	if len(files) > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	seen := map[string]bool{}
	var packed, unpacked uint64
	for _, f := range files {
		name := path.Clean(f.Name)
		switch folded := strings.ToLower(name); {
		case strings.ContainsAny(f.Name, "\\:\x00") || !filepath.IsLocal(filepath.FromSlash(f.Name)):
			return fmt.Errorf("the file %q would be outside its folder", f.Name)
		case !f.Mode().IsRegular() && !f.Mode().IsDir():
			return fmt.Errorf("%q is a link or another special file", f.Name)
		case seen[folded] && !f.Mode().IsDir():
			return fmt.Errorf("it has the file %q twice", f.Name)
		default:
			seen[folded] = true
		}
		packed, unpacked = packed+f.CompressedSize64, unpacked+f.UncompressedSize64
		if f.UncompressedSize64 > maxUnpacked || unpacked > maxUnpacked || unpacked > freeRatio+maxRatio*min(packed, size) {
			return errors.New("its files are too large when they are unpacked")
		}
	}
	return nil
}

// extract writes the files of a checked archive into a folder.
func extract(z *zip.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range z.File {
		name := filepath.FromSlash(path.Clean(f.Name))
		if f.Mode().IsDir() {
			err = root.MkdirAll(name, 0o700)
		} else {
			err = extractFile(root, name, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func extractFile(root *os.Root, name string, f *zip.File) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if f.Mode().Perm()&0o111 != 0 {
		mode = 0o700
	}
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	// The reader fails at the declared size: a file cannot be longer than checked.
	_, err = io.Copy(to, io.LimitReader(from, int64(f.UncompressedSize64)+1))
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// syncFolders writes the folders of a tree to disk, so that after a loss of power a
// renamed folder is whole. Some systems cannot do that.
func syncFolders(root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		folder, err := os.Open(path)
		if err != nil {
			return err
		}
		_ = folder.Sync() // Windows has no such thing
		return folder.Close()
	})
}

// staleAfter is the age at which no process unpacks into a folder any more.
const staleAfter = 24 * time.Hour

// removeLeft removes the folders of processes that were killed while they unpacked.
func removeLeft(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, ".new-*")) // the pattern is right
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(path) // the next process tries again
		}
	}
}

// Remove removes the folder of a bundle. It is renamed first: what is removed only in
// part, because a program uses it, must not look like an unpacked bundle.
func Remove(folder string) error {
	old, err := os.MkdirTemp(filepath.Dir(folder), ".new-*")
	switch {
	case errors.Is(err, fs.ErrNotExist): // so the folder does not either
		return nil
	case err != nil:
		return err
	}
	err = atomicfile.Rename(folder, filepath.Join(old, "bundle"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(old))
}

// readMember returns a file of an archive.
func readMember(z *zip.Reader, name string, limit int64) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("it has no %s", name)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("its %s is larger than %d bytes", name, limit)
	}
	return data, err
}
