//go:build !linux

package stdtool

import (
	"errors"
	"io/fs"
	"os"
)

// isOpenElsewhere cannot know it here.
func isOpenElsewhere(*os.File) bool { return false }

// keepAttributes keeps none: extended attributes are not carried over here.
func keepAttributes(_, _ *os.File) error { return nil }

func namelessTemp(*os.Root, fs.FileMode) (*tempFile, error) { return nil, errors.ErrUnsupported }

func link(*os.File, *os.Root, string) error { return errNoLink }
