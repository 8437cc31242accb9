package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/filelock"
	"github.com/toolpost/toolpost/internal/ownership"
)

// The writing tools of package stdtool refuse names with this ending.
const ending = ".toolpost-secret"

const (
	longestSecret = 64 << 10
	longestFile   = longestSecret + 1<<10 // of a secret that is encrypted
	longestName   = 100                   // its hexadecimal form is the name of a file
)

// A folder keeps each secret in a file that only its owner can read.
type folder struct{ dir, why string }

// Folder returns a vault of files with mode 0600. The folder is created when the
// first secret is kept.
func Folder(dir string) Vault { return &folder{dir: dir} }

// CheckName reports why a secret cannot have a name.
func CheckName(name string) error {
	switch {
	case name == "" || len(name) > longestName:
		return fmt.Errorf("the name of a secret has 1 to %d bytes, not %d", longestName, len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the name of a secret has letters, digits, spaces and punctuation only; %q has other characters", name)
	}
	return nil
}

func (f *folder) path(name string) string { return File(f.dir, name) }

// File returns the file in which [Folder] keeps a secret, for those who watch it.
func File(dir, name string) string {
	return filepath.Join(dir, hex.EncodeToString([]byte(name))+ending)
}

func errTooLong(secret []byte) error {
	return fmt.Errorf("keep a secret: it has %d bytes; at most %d are kept", len(secret), longestSecret)
}

// Get reads the file of a secret.
func (f *folder) Get(name string) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := ownership.CheckFolder(f.dir); err != nil {
		return nil, fmt.Errorf("read a secret: %w", err)
	}
	path := f.path(name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%q: %w", name, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("read a secret: %w", err)
	case !info.Mode().IsRegular() || info.Size() > longestFile:
		return nil, fmt.Errorf("read a secret: %s is not a file of at most %d bytes; remove it", path, longestFile)
	}
	if err := ownership.Check(path); err != nil {
		return nil, fmt.Errorf("read a secret: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // Windows has no such modes
		return nil, fmt.Errorf("read a secret: other users may have read %s; run: chmod 600 %q, and replace the secret", path, path)
	}
	return os.ReadFile(path)
}

// stored returns the file of a secret, also where its content is not the secret.
func (f *folder) stored(name string) ([]byte, error) { return f.Get(name) }

// Update writes another file and renames it, so that a crash leaves the old
// secret or the new one.
func (f *folder) Update(ctx context.Context, name string, change func([]byte) ([]byte, error)) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(f.dir, 0o700), ownership.CheckFolder(f.dir)); err != nil {
		return fmt.Errorf("keep a secret: %w", err)
	}
	lock, err := os.OpenFile(f.path(name)+"-lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("keep a secret: %w", err)
	}
	defer lock.Close()
	if err := filelock.Wait(ctx, lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("keep a secret: wait for another process: %w", err)
	}
	defer filelock.Release(lock)
	old, err := f.Get(name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	secret, err := change(old)
	if err != nil {
		return err
	}
	return f.replace(name, secret)
}

// replace writes or removes the file of a secret. The caller holds its lock.
func (f *folder) replace(name string, secret []byte) error {
	f.removeOld(name)
	var err error
	switch {
	case len(secret) > longestFile:
		return errTooLong(secret)
	case secret == nil:
		if err = atomicfile.Remove(f.path(name)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	default:
		err = atomicfile.Write(f.path(name), secret, &atomicfile.Options{Locked: true})
	}
	if err != nil {
		return fmt.Errorf("keep a secret: %w", err)
	}
	return nil
}

// removeOld removes the temporary files of a secret that earlier versions of Toolpost
// left where they were killed. The files hold secrets. The caller holds the lock.
func (f *folder) removeOld(name string) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return // the write reports it
	}
	prefix := filepath.Base(f.path(name)) + "-"
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), ".tmp") && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(f.dir, e.Name())) // the next write tries again
		}
	}
}

// Names decodes the names of the files.
func (f *folder) Names() (names []string, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the secrets: %w", err)
	}
	for _, e := range entries {
		if coded, ok := strings.CutSuffix(e.Name(), ending); ok {
			if name, err := hex.DecodeString(coded); err == nil {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// Place names the folder.
func (f *folder) Place() string {
	return "files of " + f.dir + " that only you can read" + because(f.why)
}
