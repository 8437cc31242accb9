//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"os"
)

// syncFolder fails: where files have no locks, nothing can be kept in folders.
func syncFolder(*os.Root) error { return errors.ErrUnsupported }
