//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// Try fails: files have no locks here.
func Try(*os.File, bool) error { return errors.ErrUnsupported }

// Release does nothing.
func Release(*os.File) {}
