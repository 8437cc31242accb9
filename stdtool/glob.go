package stdtool

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost"
)

type globInput struct {
	Pattern string `json:"pattern" jsonschema:"minLength=1,maxLength=1000,description=Pattern relative to path"`
	Path    string `json:"path,omitempty" jsonschema:"maxLength=4096,description=Directory; default is the served folder"`
	Ignored bool   `json:"ignored,omitempty" jsonschema:"description=Also what .gitignore excludes"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100000,default=500,description=Number of paths to return"`
}

// Glob returns the tool glob: paths that match a pattern.
func Glob(root *os.Root) *toolpost.Tool {
	return newTool("glob", func(ctx context.Context, in globInput) (string, error) {
		dir, err := localPath(root, in.Path)
		if err != nil {
			return "", err
		}
		if inside, ok := within(root, in.Pattern); ok && in.Path == "" && path.IsAbs(filepath.ToSlash(in.Pattern)) {
			if strings.HasSuffix(in.Pattern, "/") {
				inside += "/" // only directories
			}
			in.Pattern = inside
		}
		p, err := parsePattern(in.Pattern)
		if err != nil {
			return "", err
		}
		if info, err := root.Stat(dir); err != nil {
			return "", readError(dir, err)
		} else if !info.IsDir() {
			return "", toolpost.Retry("%q is not a directory: give the directory as path, and the rest as pattern", dir)
		}
		return globFolder(ctx, root, dir, p, in)
	}, paged("Find files"))
}

func globFolder(ctx context.Context, root *os.Root, dir string, p pattern, in globInput) (string, error) {
	var b strings.Builder
	found, more := 0, false
	w := walk{root: root, all: in.Ignored, visit: func(_ context.Context, e entry) error {
		full, inside := p.match(relativeTo(dir, e.name), e.mode.IsDir())
		if full {
			if more = found == in.Limit || b.Len()+len(e.name) > maxOutput; more {
				return errLimit
			}
			found++
			b.WriteString(printable(e.name))
			if e.mode.IsDir() {
				b.WriteByte('/')
			}
			b.WriteByte('\n')
		}
		if !inside {
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
		fmt.Fprintf(&b, "\n[the first %d; there are more, narrow the pattern]\n", found)
	case found == 0:
		return "[nothing matches]", nil
	}
	return b.String(), nil
}
