//go:build !unix

package stdtool

import (
	"io/fs"
	"os"
)

// links is how many names a file has, as far as it is known.
func links(fs.FileInfo) uint64 { return 1 }

// doNotWait is for systems whose files can be pipes.
const doNotWait = 0

// keepMode gives f the mode of the file that it replaces.
func keepMode(f *os.File, was fs.FileInfo) error { return f.Chmod(was.Mode()) }
