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
func (f *Workspace) List() *toolpost.Tool {
	return newTool("list", func(ctx context.Context, in listInput) (string, error) {
		dir, err := localPath(f.root, in.Path)
		if err != nil {
			return "", err
		}
		info, err := f.root.Stat(dir)
		if err != nil {
			return "", readError(dir, err)
		}
		if !info.IsDir() {
			return fmt.Sprintf("%s  %s, mode %v, changed %s\n", dir, describeSize(info.Mode(), info.Size()), info.Mode(), info.ModTime().UTC().Format(time.RFC3339)), nil
		}
		return listFolder(ctx, f.root, dir, in.Depth)
	}, pagedOptions("List directory"))
}

func listFolder(ctx context.Context, root *os.Root, dir string, depth int) (string, error) {
	w := walk{root: root, all: depth == 1} // one level shows all; further ones not what is ignored
	l := listing{none: "the directory is empty", next: "use glob, or list the directories in it"}
	return l.run(ctx, w, dir, func(e entry) (line string, into bool) {
		return printable(e.name) + e.details(root), strings.Count(relativeTo(dir, e.name), "/")+1 < depth
	})
}

// A listing is the text of a walk, with a line for each entry that is shown.
type listing struct {
	limit int    // lines; 0 for as many as fit
	none  string // describes an empty listing
	next  string // says what to do if there are more

	hidden string // says what to do if nothing is shown and .gitignore files exclude something
}

// run walks below dir. Show returns the line of an entry, empty if it is not shown,
// and whether to look into a folder.
func (l listing) run(ctx context.Context, w walk, dir string, show func(entry) (line string, into bool)) (string, error) {
	var b strings.Builder
	shown, more := 0, false
	w.visit = func(_ context.Context, e entry) error {
		line, into := show(e)
		if line != "" {
			if more = shown == l.limit && shown > 0 || b.Len()+len(line) >= maxOutput; more {
				return errLimit
			}
			shown++
			b.WriteString(line + "\n")
		}
		if !into {
			return fs.SkipDir
		}
		return nil
	}
	late, err := w.run(ctx, dir)
	switch {
	case err != nil:
		return "", err
	case late:
		b.WriteString(lateNote())
	case more:
		fmt.Fprintf(&b, "\n[the first %d; there are more, %s]\n", shown, l.next)
	case shown == 0 && w.excluded && l.hidden != "":
		return "[" + l.none + "; " + l.hidden + "]", nil
	case shown == 0:
		return "[" + l.none + "]", nil
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
	return "  " + describeSize(e.mode, size)
}

// describeSize returns the size of a regular file, or the kind of another one.
func describeSize(mode fs.FileMode, size int64) string {
	if mode.IsRegular() {
		return fmt.Sprint(size)
	}
	return describeKind(mode)
}

// printable returns a name as text. One that has line breaks, hidden characters or
// bytes that are not UTF-8 is quoted, so that it looks like nothing else.
func printable(name string) string {
	if !utf8.ValidString(name) || strings.ContainsAny(name, "\n\r\t") || cleartext.Clean(name) != name {
		return strconv.Quote(name)
	}
	return name
}
