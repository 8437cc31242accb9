package stdtool

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost"
)

type globInput struct {
	Pattern string `json:"pattern" jsonschema:"minLength=1,maxLength=1000,description=Pattern relative to path"`
	Path    string `json:"path,omitempty" jsonschema:"maxLength=4096,description=Directory; default is the served folder"`
	Ignored bool   `json:"ignored,omitempty" jsonschema:"description=Also what .gitignore excludes"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100000,default=500,description=Paths to return"`
}

// Glob returns the tool glob: paths that match a pattern.
func (f *Workspace) Glob() *toolpost.Tool {
	return newTool("glob", func(ctx context.Context, in globInput) (string, error) {
		dir, err := localPath(f.root, in.Path)
		if err != nil {
			return "", err
		}
		if inside, ok := relativeToRoot(f.root, in.Pattern); ok && in.Path == "" && path.IsAbs(filepath.ToSlash(in.Pattern)) {
			if strings.HasSuffix(in.Pattern, "/") {
				inside += "/" // only directories
			}
			in.Pattern = inside
		}
		p, err := parsePattern(in.Pattern)
		if err != nil {
			return "", err
		}
		if info, err := f.root.Stat(dir); err != nil {
			return "", readError(dir, err)
		} else if !info.IsDir() {
			return "", toolpost.Retry.Errorf("%q is not a directory: give the directory as path, and the rest as pattern", dir)
		}
		l := listing{limit: in.Limit, none: "nothing matches", next: "narrow the pattern", hidden: "set ignored to find what .gitignore excludes"}
		return l.run(ctx, walk{root: f.root, all: in.Ignored}, dir, func(e entry) (line string, into bool) {
			full, inside := p.match(relativeTo(dir, e.name), e.mode.IsDir())
			switch {
			case full && e.mode.IsDir():
				line = printable(e.name) + "/"
			case full:
				line = printable(e.name)
			}
			return line, inside
		})
	}, pagedOptions("Find files"))
}
