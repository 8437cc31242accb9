package gateway

import (
	"bytes"
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

// WatchFile calls f with the configuration at path, at once and after every
// change of the file, until ctx is done. A file that is missing or broken is
// told as an error; the caller goes on with what it has.
func WatchFile(ctx context.Context, path string, f func(*Config, error)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	defer func() { _ = w.Close() }()
	names, err := watchFolders(w, path)
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	last, _ := readLimited(path, maxConfig) // LoadConfig tells what is wrong
	f(LoadConfig(path))
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
			data, _ := readLimited(path, maxConfig)
			if bytes.Equal(data, last) && (data == nil) == (last == nil) {
				continue
			}
			last = data
			f(LoadConfig(path))
		}
	}
}

// watchFolders watches the folder of path, because editors replace files, and
// if path is a link the folder it leads to. It returns the names that count.
func watchFolders(w *fsnotify.Watcher, path string) (names []string, err error) {
	names = []string{filepath.Base(path), "..data"} // the latter is a mounted volume of Kubernetes
	folders := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Base(target) != "" {
		names = append(names, filepath.Base(target))
		folders = append(folders, filepath.Dir(target))
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if err := w.Add(folder); err != nil {
			return nil, err
		}
	}
	return names, nil
}
