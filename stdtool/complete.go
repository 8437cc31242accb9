package stdtool

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"time"
)

const (
	maxCompleted  = 200         // paths that Complete returns
	maxCompleting = time.Second // somebody waits for it
)

// Complete returns the files and folders of the workspace whose paths begin with a text, in
// order of names, to complete a path that a user types: those of one folder, without what
// .gitignore files exclude. The paths of folders end with a slash. Hidden files are only
// those that the text asks for.
func (f *Workspace) Complete(beginning string) (paths []string) {
	dir, name := path.Split(beginning)
	if dir = path.Clean(dir); !fs.ValidPath(dir) {
		return nil
	}
	w := &walk{root: f.root, visit: func(_ context.Context, e entry) error {
		found := path.Base(e.name)
		switch {
		case !strings.HasPrefix(found, name), strings.HasPrefix(found, ".") && name == "":
		case len(paths) == maxCompleted:
			return errLimit
		case e.mode.IsDir():
			paths = append(paths, beginning[:len(beginning)-len(name)]+found+"/")
		default:
			paths = append(paths, beginning[:len(beginning)-len(name)]+found)
		}
		if e.mode.IsDir() {
			return fs.SkipDir
		}
		return nil
	}}
	if info, err := f.root.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxCompleting)
	defer cancel()
	_, _ = w.run(ctx, dir) // what cannot be read is not offered
	return paths
}
