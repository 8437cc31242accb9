package config_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
)

// watch watches path; next waits for what is told next.
func watch(t *testing.T, path string) (next func() (*config.Config, error)) {
	t.Helper()
	type told struct {
		cfg *config.Config
		err error
	}
	all, ended := make(chan told, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		config.Watch(ctx, path, func(cfg *config.Config, err error) { all <- told{cfg, err} })
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(all) > 0 {
			t.Errorf("%d changes too many were told", len(all))
		}
	})
	return func() (*config.Config, error) {
		t.Helper()
		for limit := time.After(time.Minute); ; {
			select {
			case c := <-all:
				// A slow machine may see the file while it is written.
				if c.err == nil || !strings.Contains(c.err.Error(), "the file is empty") {
					return c.cfg, c.err
				}
			case <-limit:
				t.Fatal("no change was told")
				return nil, nil
			}
		}
	}
}

func wantServer(t *testing.T, name string, next func() (*config.Config, error)) {
	t.Helper()
	cfg, err := next()
	if err != nil || len(cfg.Servers) != 1 || cfg.Servers[0].Name != name {
		t.Fatalf("got %+v, %v, want server %s", cfg, err, name)
	}
}

// save replaces a file, as editors do.
func save(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".tmp", text)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

const oneServer = `{"mcpServers": {"NAME": {"command": "x"}}}`

func withServer(name string) string { return strings.Replace(oneServer, "NAME", name, 1) }

func TestWatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "toolpost.json")
	next := watch(t, path)
	if _, err := next(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no file: got %v", err)
	}
	write(t, path, withServer("created"))
	wantServer(t, "created", next)

	save(t, path, withServer("replaced"))
	wantServer(t, "replaced", next)

	write(t, path, `{"mcpServer": {"a": {"command": "x"}}}`)
	var typed *config.Error
	if cfg, err := next(); cfg != nil || !errors.As(err, &typed) {
		t.Fatalf("broken: got %v, %v", cfg, err)
	}
	for range 200 { // a burst is one change, or a few on a slow machine
		write(t, path, "")
		write(t, path, withServer("written"))
	}
	wantServer(t, "written", next)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for told := 1; ; told++ {
		cfg, err := next()
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil || told > 20 {
			t.Fatalf("removed: got %+v, %v", cfg, err)
		}
	}
}

func TestWatchThroughLink(t *testing.T) {
	t.Parallel()
	target, path := filepath.Join(t.TempDir(), "dotfile.json"), filepath.Join(t.TempDir(), "toolpost.json")
	write(t, target, withServer("one"))
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	next := watch(t, path)
	wantServer(t, "one", next)
	write(t, target, withServer("two"))
	wantServer(t, "two", next)
	save(t, target, withServer("three"))
	wantServer(t, "three", next)
}

func TestWatchSavedUnchanged(t *testing.T) {
	t.Parallel()
	path, other := filepath.Join(t.TempDir(), "toolpost.json"), filepath.Join(t.TempDir(), "toolpost.json")
	write(t, path, withServer("same"))
	next, nextOther := watch(t, path), watch(t, other)
	wantServer(t, "same", next)
	if _, err := nextOther(); err == nil {
		t.Fatal("the other file exists")
	}
	save(t, path, withServer("same"))
	for _, name := range []string{"later", "latest"} { // when these are told, the file was read again
		write(t, other, withServer(name))
		wantServer(t, name, nextOther)
	}
}

// A folder may come later.
func TestWatchNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "toolpost.json")
	next := watch(t, path)
	if _, err := next(); err == nil {
		t.Fatal("the file exists")
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, withServer("late"))
	wantServer(t, "late", next)
}
