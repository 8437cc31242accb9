package stdtool

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
)

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"maxLength=4096,description=File or directory; default is the served folder"`
	Depth int    `json:"depth,omitempty" jsonschema:"minimum=1,maximum=20,default=1,description=Levels of directories to show"`
}

// List returns the tool list: the entries of a folder, with kinds and sizes.
func List(root *os.Root) *toolpost.Tool {
	return newTool("list", func(ctx context.Context, in listInput) (string, error) {
		dir, err := localPath(root, in.Path)
		if err != nil {
			return "", err
		}
		info, err := root.Stat(dir)
		if err != nil {
			return "", readError(dir, err)
		}
		if !info.IsDir() {
			return fmt.Sprintf("%s  %s, mode %v, changed %s\n", dir, describeKind(info.Mode(), info.Size()), info.Mode(), info.ModTime().UTC().Format(time.RFC3339)), nil
		}
		return listFolder(ctx, root, dir, in.Depth)
	}, paged("List directory"))
}

func listFolder(ctx context.Context, root *os.Root, dir string, depth int) (string, error) {
	var b strings.Builder
	more := false
	// One level shows all; further ones not what is ignored.
	w := walk{root: root, all: depth == 1, visit: func(_ context.Context, e entry) error {
		line := fmt.Sprintf("%s%s\n", printable(e.name), e.details(root))
		if more = b.Len()+len(line) > maxOutput; more {
			return errLimit
		}
		b.WriteString(line)
		if strings.Count(relativeTo(dir, e.name), "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	}}
	late, err := w.run(ctx, dir)
	switch {
	case err != nil:
		return "", err
	case late:
		b.WriteString(lateNote())
	case more:
		b.WriteString("\n[there are more entries: use glob, or list the directories in it]\n")
	case b.Len() == 0:
		return "[the directory is empty]", nil
	}
	return b.String(), nil
}

// details describes the kind of an entry, and its size.
func (e entry) details(root *os.Root) string {
	if e.mode.IsDir() {
		return "/"
	}
	if e.mode&fs.ModeSymlink != 0 {
		target, err := root.Readlink(e.name)
		if err != nil || strings.HasPrefix(target, "/") {
			return "  symbolic link"
		}
		return "  symbolic link to " + printable(target)
	}
	var size int64
	if info, err := root.Lstat(e.name); err == nil {
		size = info.Size()
	}
	return "  " + describeKind(e.mode, size)
}

// describeKind returns the size of a regular file, or the kind of another one.
func describeKind(mode fs.FileMode, size int64) string {
	switch {
	case mode.IsRegular():
		return fmt.Sprint(size)
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// printable returns a name as text. One that has line breaks, hidden characters or
// bytes that are not UTF-8 is quoted, so that it looks like nothing else.
func printable(name string) string {
	if !utf8.ValidString(name) || strings.ContainsAny(name, "\n\r\t") || cleartext.Clean(name) != name {
		return strconv.Quote(name)
	}
	return name
}
