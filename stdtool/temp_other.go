//go:build !linux

package stdtool

import (
	"errors"
	"io/fs"
	"os"
)

func namelessTemp(*os.Root, fs.FileMode) (*tempFile, error) { return nil, errors.ErrUnsupported }

func link(*os.File, *os.Root, string) error { return errNoLink }
