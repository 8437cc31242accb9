package upgrade

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// replace puts a program in the place of another one, at once: whoever starts it gets the
// old or the new one. Windows does not replace a program that runs, but renames it; it is
// removed at the next upgrade.
func replace(program string, data []byte) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(program), ".toolpost-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close(), os.Chmod(f.Name(), info.Mode().Perm())); err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		return os.Rename(f.Name(), program)
	}
	old := program + ".old"
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(program, old); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), program); err != nil {
		return errors.Join(err, os.Rename(old, program))
	}
	return nil
}
