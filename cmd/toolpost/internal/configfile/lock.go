package configfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
)

// lockTime is how long another process may hold the lock of a file.
const lockTime = 10 * time.Second

// WithLock calls f while no other process of the user does for the same file, so that a
// file that f compares is still the same when f replaces it. The lock is in the folder
// of the user's settings: nothing is left beside the file.
func WithLock(ctx context.Context, path string, f func() error) error {
	lock, err := openLock(path)
	if err != nil {
		return err
	}
	if lock == nil {
		return f()
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, lockTime, fmt.Errorf("another process is changing %s; try again when it has ended", path))
	defer cancel()
	if err := filelock.Wait(ctx, lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	defer filelock.Release(lock)
	return f()
}

// openLock returns the lock of a file, nil if the user has no folder for settings, or
// none that can be written.
func openLock(path string) (*os.File, error) {
	settings, err := os.UserConfigDir()
	if err != nil {
		return nil, nil
	}
	if path, err = target(path); err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	folder := filepath.Join(settings, "toolpost", "locks")
	err = os.MkdirAll(folder, 0o700)
	if err == nil {
		var lock *os.File
		sum := sha256.Sum256([]byte(path))
		if lock, err = os.OpenFile(filepath.Join(folder, hex.EncodeToString(sum[:16])), os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			return lock, nil
		}
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) { // such as that of a container
		return nil, nil
	}
	return nil, err
}
