// Package filewatch reports changes of single files.
package filewatch

import (
	"context"
	"fmt"
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
	// recheck is how often the folders are compared with those that are watched:
	// no event says that one was removed and made again, or is another one.
	recheck = time.Second
)

// Watch calls f immediately and after every event of one of the files, until
// ctx ends.
func Watch(ctx context.Context, paths []string, f func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", paths[0], err)
	}
	defer func() { _ = w.Close() }()
	folders, names, err := watchFolders(w, paths)
	if err != nil {
		return fmt.Errorf("watch %s: %w", paths[0], err)
	}
	f()
	quiet, check := time.NewTimer(settle), time.NewTicker(recheck)
	defer quiet.Stop()
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-w.Events:
			if slices.Contains(names, filepath.Base(event.Name)) {
				quiet.Reset(settle)
			}
		case err := <-w.Errors: // events were lost
			if err != nil {
				quiet.Reset(settle)
			}
		case <-check.C:
			if watchAgain(w, folders) {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			f()
		}
	}
}

// watchFolders watches the folders of the paths, because editors replace files,
// and if a path is a link the folder it leads to. It returns what it watches, and
// the names that count.
func watchFolders(w *fsnotify.Watcher, paths []string) (folders map[string]os.FileInfo, names []string, err error) {
	names = []string{"..data"} // a mounted volume of Kubernetes
	folders = map[string]os.FileInfo{}
	for _, path := range paths {
		names = append(names, filepath.Base(path))
		folders[filepath.Dir(path)] = nil
		if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Base(target) != "" {
			names = append(names, filepath.Base(target))
			folders[filepath.Dir(target)] = nil
		}
	}
	for folder := range folders {
		folders[folder], _ = os.Stat(folder) // Add says what is wrong
		if err := w.Add(folder); err != nil {
			return nil, nil, err
		}
	}
	return folders, names, nil
}

// watchAgain watches the folders that are other ones by now. It reports whether
// there are any.
func watchAgain(w *fsnotify.Watcher, folders map[string]os.FileInfo) (changed bool) {
	watched := w.WatchList()
	for folder, before := range folders {
		now, err := os.Stat(folder)
		if err != nil || os.SameFile(before, now) && slices.Contains(watched, folder) {
			continue
		}
		_ = w.Remove(folder) // it may be watched no more
		if w.Add(folder) == nil {
			folders[folder], changed = now, true
		}
	}
	return changed
}
