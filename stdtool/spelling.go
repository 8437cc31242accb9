package stdtool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

// existing returns name as the files of the root are spelled, if they are there: the
// same letters have several forms in Unicode (é may be one character or two), and
// models write another one than some systems do in names of files.
func existing(root *os.Root, name string) string {
	if isASCII([]byte(name)) || !isMissing(root, name) {
		return name
	}
	at, parts := ".", strings.Split(name, "/")
	for i, part := range parts {
		next := join(at, part)
		if isMissing(root, next) {
			other := sameLetters(root, at, part)
			if other == "" { // it is to be made
				return join(at, strings.Join(parts[i:], "/"))
			}
			next = join(at, other)
		}
		at = next
	}
	return at
}

func isMissing(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// sameLetters returns the first name in a directory that differs from name only in the
// form of Unicode, empty if there is none.
func sameLetters(root *os.Root, dir, name string) (found string) {
	if isASCII([]byte(name)) {
		return ""
	}
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // those that could be read
	want := norm.NFC.String(name)
	for _, other := range names {
		if !isASCII([]byte(other)) && norm.NFC.String(other) == want && (found == "" || other < found) {
			found = other
		}
	}
	return found
}
