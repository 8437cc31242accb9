// Package filewatch reports changes of single files.
package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long a file must be quiet before it is read: editors write,
	// rename and write again.
	settle = 200 * time.Millisecond
	// recheck is how often the files and their folders are looked at: the system may
	// have no watchers left, some file systems have no events, and no event reports
	// that a folder was removed and made again, or is another one.
	recheck = time.Second
)

// Watch calls f immediately and after every change of one of the files, until ctx
// ends. It needs no events of the system: without them, a change is reported within
// about a second.
func Watch(ctx context.Context, paths []string, f func()) {
	w := &watcher{paths: paths}
	defer w.close()
	w.open()
	w.seen = statAll(paths)
	f()
	quiet, check := time.NewTimer(settle), time.NewTicker(recheck)
	quiet.Stop()
	defer quiet.Stop()
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.events:
			if slices.Contains(w.names, filepath.Base(event.Name)) {
				quiet.Reset(settle)
			}
		case err := <-w.errors: // events were lost
			if err != nil {
				quiet.Reset(settle)
			}
		case <-check.C:
			if w.recheck() {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			w.seen = statAll(paths)
			f()
		}
	}
}

// A watcher looks at files, and gets events of their folders if the system has some.
type watcher struct {
	paths []string
	seen  []os.FileInfo // of the paths, when they were reported last; nil for none

	system  *fsnotify.Watcher // nil if there is none
	events  chan fsnotify.Event
	errors  chan error
	folders map[string]os.FileInfo // nil for those that are not watched
	names   []string               // of the files whose events count
}

// open watches the folders of the paths, because editors replace files, and if a path
// is a link the folder it leads to.
func (w *watcher) open() {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return // tried again
	}
	w.system, w.events, w.errors = system, system.Events, system.Errors
	w.names = []string{"..data"} // a mounted volume of Kubernetes
	w.folders = map[string]os.FileInfo{}
	for _, path := range w.paths {
		w.names = append(w.names, filepath.Base(path))
		w.folders[filepath.Dir(path)] = nil
		if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Base(target) != "" {
			w.names = append(w.names, filepath.Base(target))
			w.folders[filepath.Dir(target)] = nil
		}
	}
	w.watchFolders()
}

func (w *watcher) close() {
	if w.system != nil {
		_ = w.system.Close()
	}
}

// recheck reports whether a file may have changed without an event.
func (w *watcher) recheck() bool {
	if w.system == nil {
		w.open()
	}
	again := w.system != nil && w.watchFolders()
	return again || !slices.EqualFunc(w.seen, statAll(w.paths), isUnchanged)
}

// watchFolders watches the folders that are not watched, or are other ones by now. It
// reports whether there are any.
func (w *watcher) watchFolders() (changed bool) {
	watched := w.system.WatchList()
	for folder, before := range w.folders {
		now, err := os.Stat(folder)
		if err != nil || os.SameFile(before, now) && slices.Contains(watched, folder) {
			continue
		}
		_ = w.system.Remove(folder) // it may be watched no more
		if w.system.Add(folder) == nil {
			w.folders[folder], changed = now, true
		}
	}
	return changed
}

func statAll(paths []string) []os.FileInfo {
	all := make([]os.FileInfo, len(paths))
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all[i] = info
		}
	}
	return all
}

// isUnchanged reports whether a file is as it was, as far as this shows without reading it.
func isUnchanged(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
