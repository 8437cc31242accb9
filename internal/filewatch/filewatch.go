// Package filewatch reports changes of single files.
package filewatch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be quiet before it is read: editors write,
// rename and write again.
const settle = 200 * time.Millisecond

// Watch calls f immediately and after every event of one of the files, until
// ctx ends.
func Watch(ctx context.Context, paths []string, f func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", paths[0], err)
	}
	defer func() { _ = w.Close() }()
	names, err := watchFolders(w, paths)
	if err != nil {
		return fmt.Errorf("watch %s: %w", paths[0], err)
	}
	f()
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
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
		case <-quiet.C:
			f()
		}
	}
}

// watchFolders watches the folders of the paths, because editors replace files,
// and if a path is a link the folder it leads to. It returns the names that count.
func watchFolders(w *fsnotify.Watcher, paths []string) (names []string, err error) {
	names = []string{"..data"} // a mounted volume of Kubernetes
	var folders []string
	for _, path := range paths {
		names, folders = append(names, filepath.Base(path)), append(folders, filepath.Dir(path))
		if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Base(target) != "" {
			names, folders = append(names, filepath.Base(target)), append(folders, filepath.Dir(target))
		}
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if err := w.Add(folder); err != nil {
			return nil, err
		}
	}
	return names, nil
}
