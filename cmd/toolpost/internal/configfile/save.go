// Package configfile changes configuration files of the user, a toolpost.json or the file of
// another MCP client: it shows the difference without secrets, locks the file, and saves it
// whole or not at all. Packages configedit and tomledit change its text.
package configfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

// Save writes a file whole or not at all. Only its owner may read it, because it
// may hold secrets, unless it was there with other rights before.
func Save(path string, data []byte) error {
	return SaveIf(path, data, nil)
}

// SaveIf is [Save], unless check returns an error. It is called when all is ready,
// right before the file is replaced.
func SaveIf(path string, data []byte, check func() error) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, &atomicfile.Options{KeepMode: true, Check: check})
}

// target returns the file that a path stands for: a symbolic link stays, and what it
// points to is written, whether it exists or not.
func target(path string) (string, error) {
	const most = 40 // links to links
	for range most {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // .. in a link is not about the name of its folder
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", fmt.Errorf("%s is a symbolic link that leads to itself", path)
}
