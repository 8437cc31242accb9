//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"os"
)

// lock fails: where files have no locks, nothing can be kept in folders.
func lock(*os.File, bool) error { return errors.ErrUnsupported }

func syncFolder(*os.Root) error { return errors.ErrUnsupported }
