package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(t *testing.T, path, text string, opts *Options) {
	t.Helper()
	if err := Write(path, []byte(text), opts); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Fatalf("%q, %v, want %q", got, err, text)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255)) // as long as names can be
	mode := func() fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	write(t, path, "new", &Options{New: true, KeepMode: true})
	if runtime.GOOS != "windows" && mode() != 0o600 {
		t.Errorf("a new file has the mode %o", mode())
	}
	if err := Write(path, []byte("other"), &Options{New: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that exists: %v", err)
	}
	refused := errors.New("refused")
	if err := Write(path, []byte("other"), &Options{Check: func() error { return refused }}); !errors.Is(err, refused) {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("a refused write left %q", got)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, path, "kept", &Options{KeepMode: true})
	if runtime.GOOS != "windows" && mode() != 0o644 {
		t.Errorf("a replaced file has the mode %o", mode())
	}
	write(t, path, "a list", &Options{MayBeLost: true})
	write(t, path, "secret", nil)
	if runtime.GOOS != "windows" && mode() != 0o600 {
		t.Errorf("a file of its owner has the mode %o", mode())
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("%q are there", got)
	}
	if err := Write(filepath.Join(dir, "missing", "f"), nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}

// Temporary files of writers that were killed are removed when they are old or, by who
// holds the lock of their file, at once. Other files stay.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	old, now := time.Now().Add(-2*time.Hour), time.Now()
	make := func(name string, at time.Time) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	make(TempName(), old)
	make(tempName("a"), old)
	make(tempName("b"), old)
	mine, other, unknown := make(tempName("a"), now), make(tempName("b"), now), make(TempName(), now)
	stay := []string{make(".toolpost-mine", old), make(".toolpost-abcdefghijklmnopqrstuvwxyz", old), make(TempName()+"x", old), "a", mine, other, unknown}
	check := func() {
		t.Helper()
		slices.Sort(stay)
		if got := names(t, dir); !slices.Equal(got, stay) {
			t.Errorf("%q are there, want %q", got, stay)
		}
	}
	write(t, filepath.Join(dir, "a"), "1", nil)
	check()
	stay = slices.DeleteFunc(stay, func(name string) bool { return name == mine })
	write(t, filepath.Join(dir, "a"), "2", &Options{Locked: true})
	check()
	make(tempName("a"), now)
	stay = slices.DeleteFunc(stay, func(name string) bool { return name == "a" })
	if err := Remove(filepath.Join(dir, "a")); err != nil {
		t.Error(err)
	}
	check()
}

// Several writers of a new file at once: one of them makes it.
func TestNewTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	made := make(chan struct{}, 20)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			switch err := Write(path, []byte("x"), &Options{New: true}); {
			case err == nil:
				made <- struct{}{}
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(made) != 1 {
		t.Errorf("%d have made it", len(made))
	}
}

func TestRetry(t *testing.T) {
	held, other := errors.New("held"), errors.New("other")
	for _, c := range []struct {
		free time.Duration
		then error
		want error
	}{
		{0, nil, nil},
		{0, other, other},
		{time.Second, nil, nil},
		{time.Second, other, other},
		{time.Hour, nil, held},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err := retry(func() error {
				if time.Since(began) < c.free {
					return held
				}
				return c.then
			}, func(err error) bool { return errors.Is(err, held) })
			if !errors.Is(err, c.want) || time.Since(began) > 3*time.Second {
				t.Errorf("free after %v: %v after %v", c.free, err, time.Since(began))
			}
		})
	}
}
