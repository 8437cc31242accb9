// Package ownership checks who owns a file and who may change it.
package ownership

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Check reports why a file may be under the control of another user, nil if
// only the current user and the administrator can change it.
func Check(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("check who can change %s: %w", file, err)
	}
	return CheckInfo(file, info)
}

// CheckFolder returns an error if someone else than the current user and the
// administrator can add files to a folder or replace those in it. One that does not exist
// passes.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := checkLink(dir, info); err != nil {
			return err
		}
		info, err = os.Stat(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder; remove it", dir)
	}
	return CheckInfo(dir, info)
}
