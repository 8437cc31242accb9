package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/service"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/ownership"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// An item is something that Toolpost keeps, or that stays.
type item struct {
	Kind  string `json:"kind"`           // service, link, secret, folder, file or configuration
	Path  string `json:"path,omitempty"` // of the file or folder; of a secret, its name
	Files int    `json:"files,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
	Why   string `json:"why,omitempty"` // it stays

	remove func(context.Context) error
}

// String describes the item in a line.
func (i *item) String() string {
	text := i.Path
	switch i.Kind {
	case "service":
		text = "the service " + i.Path
	case "link":
		text = "toolpost in " + i.Path
	case "secret":
		text = "in the keyring: " + i.Path
	case "folder":
		if i.Files == 0 {
			break
		}
		text += fmt.Sprintf(" (%s, %s)", terminal.Count(i.Files, "file"), size(i.Bytes))
	case "file":
		text += fmt.Sprintf(" (%s)", size(i.Bytes))
	}
	if i.Why != "" {
		text += ": " + i.Why
	}
	return cleartext.Printable(text)
}

func size(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// collect returns what is to be removed, in this order, and what stays.
func collect() (items, kept []*item, err error) {
	if file := service.Installed(); file != "" {
		items = append(items, &item{Kind: "service", Path: file, remove: func(ctx context.Context) error {
			_, err := service.Remove(ctx)
			return err
		}})
	}
	links, err := collectLinks()
	if err != nil {
		return nil, nil, err
	}
	secrets, err := collectSecrets()
	if err != nil {
		return nil, nil, err
	}
	dirs, err := owner.Dirs()
	if err != nil {
		return nil, nil, err
	}
	items = append(append(items, links...), secrets...)
	for _, dir := range dirs {
		found, stays, err := collectFolder(dir)
		if err != nil {
			return nil, nil, err
		}
		items, kept = append(items, found...), append(kept, stays...)
	}
	return items, append(kept, projects(dirs)...), nil
}

// collectLinks returns the files of clients that have the gateway.
func collectLinks() (items []*item, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find the files of clients: %w", err)
	}
	store, err := link.Open()
	if err != nil {
		return nil, err
	}
	files, err := store.Records(home)
	if err != nil {
		return nil, fmt.Errorf("%w; remove toolpost from that file by hand, then this record", err)
	}
	for _, f := range files {
		items = append(items, &item{Kind: "link", Path: f.Path, remove: func(ctx context.Context) error {
			c, err := store.Undo(f)
			if err != nil || c == nil {
				return err
			}
			return store.Apply(ctx, c)
		}})
	}
	return items, nil
}

// collectSecrets returns what is in the keyring of the system. Other vaults are files.
func collectSecrets() (items []*item, err error) {
	dir, err := owner.SettingsDir()
	if err != nil {
		return nil, err
	}
	names, err := vault.KeyringNames(dir)
	for _, name := range names {
		items = append(items, &item{Kind: "secret", Path: name, remove: func(ctx context.Context) error {
			v, err := vault.Open(vault.Choice{Kind: vault.Keyring}, dir, os.Getenv)
			if err != nil {
				return err
			}
			return v.Update(ctx, name, func([]byte) ([]byte, error) { return nil, nil })
		}})
	}
	return items, err
}

// collectFolder returns what Toolpost has made in a folder, and the folder itself if nothing
// else is in it.
func collectFolder(dir string) (items, kept []*item, err error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, []*item{{Kind: "folder", Path: dir, Why: "it is a link, which may belong to a program that manages your files"}}, nil
	case !info.IsDir() || !ownership.Owned(info):
		return nil, []*item{{Kind: "folder", Path: dir, Why: "it is not a folder of yours"}}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		one := &item{Kind: "file", Path: path, remove: func(context.Context) error { return os.RemoveAll(path) }}
		if e.IsDir() {
			one.Kind = "folder"
		}
		if one.Files, one.Bytes, err = measure(path); err != nil {
			return nil, nil, err
		}
		if !owner.Makes(e.Name()) {
			one.Why = "Toolpost has not made it"
			kept = append(kept, one)
			continue
		}
		items = append(items, one)
	}
	if len(kept) > 0 {
		return items, kept, nil
	}
	return append(items, &item{Kind: "folder", Path: dir, remove: func(context.Context) error { return removeEmpty(dir) }}), nil, nil
}

// removeEmpty removes a folder that may be gone. Commands that remove what is listed before
// may have made files in it.
func removeEmpty(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, "locks")); err != nil {
		return err
	}
	if err := os.Remove(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// measure counts the files at a path, without following links.
func measure(path string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes, err
}

// projects returns the approved files outside of the folders, which are the user's.
func projects(dirs []string) (kept []*item) {
	store, err := trust.Open()
	if err != nil {
		return nil
	}
	approvals, _ := store.List() // without the list, none is named
	for _, a := range approvals {
		if _, err := os.Lstat(a.File); err != nil || inside(a.File, dirs) {
			continue
		}
		kept = append(kept, &item{Kind: "configuration", Path: a.File, Why: "it is a file of your project"})
	}
	return kept
}

func inside(file string, dirs []string) bool {
	for _, dir := range dirs {
		if strings.HasPrefix(file, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
