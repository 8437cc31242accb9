package stdtool

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// keepAttributes gives f the extended attributes of the file that it replaces,
// and no others: access control lists, labels, and what users have set.
func keepAttributes(f, old *os.File) error {
	to, from := int(f.Fd()), int(old.Fd())
	want, err := attributes(from)
	if err != nil {
		return err
	}
	have, err := attributes(to)
	if err != nil {
		return err
	}
	for _, name := range have {
		if !slices.Contains(want, name) { // it is that of new files in the folder
			if err := unix.Fremovexattr(to, name); err != nil {
				return err
			}
		}
	}
	for _, name := range want {
		value, err := extended(from, name)
		if err != nil {
			return err
		}
		if now, err := extended(to, name); err == nil && bytes.Equal(now, value) {
			continue
		}
		if err := unix.Fsetxattr(to, name, value, 0); err != nil {
			return err
		}
	}
	return nil
}

// attributes returns the names of those that stay when a file is written to.
// The others describe its content, or give rights to it.
func attributes(fd int) ([]string, error) {
	list, err := sized(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	names := strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "security.capability" || name == "security.ima" || name == "security.evm"
	}), err
}

func extended(fd int, name string) ([]byte, error) {
	return sized(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
}

// sized returns what get puts into a slice, which reports the length that
// it needs if there is none.
func sized(get func([]byte) (int, error)) ([]byte, error) {
	n, err := get(nil)
	if n <= 0 || err != nil {
		return nil, err
	}
	b := make([]byte, n)
	n, err = get(b)
	return b[:max(n, 0)], err
}
