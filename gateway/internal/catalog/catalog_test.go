package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/gateway/internal/catalog"
	"github.com/toolpost/toolpost/internal/atomicfile"
)

func open(t *testing.T, dir string) *catalog.Folder {
	t.Helper()
	f, err := catalog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func entry(config, server string) *catalog.Entry {
	return &catalog.Entry{Config: config, Server: server, Print: "p", Listing: json.RawMessage(`{"a":1}`), Names: map[string]catalog.Owner{"tool n": {"tool", "a", "t"}}}
}

func write(t *testing.T, f *catalog.Folder, e *catalog.Entry) {
	t.Helper()
	if err := f.Write(e); err != nil {
		t.Fatal(err)
	}
}

// files returns the entries on disk.
func files(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.catalog"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub", "catalog")
	f := open(t, dir)
	write(t, f, entry("c", "a"))
	for _, f := range []*catalog.Folder{f, open(t, dir)} {
		e := f.Read("c", "a")
		if e == nil || string(e.Listing) != `{"a":1}` || e.Names["tool n"].Own != "t" || e.Print != "p" {
			t.Errorf("got %+v", e)
		}
		if f.Read("c", "b") != nil || f.Read("d", "a") != nil || f.Read("", "ca") != nil {
			t.Error("an entry that was never written is there")
		}
	}
	if runtime.GOOS != "windows" {
		for _, path := range append(files(t, dir), filepath.Join(dir, "key")) {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Error(path, info.Mode(), err)
			}
		}
	}
	if n, size, err := f.Clear(); n != 1 || size == 0 || err != nil || f.Read("c", "a") != nil {
		t.Error(n, size, err)
	}
}

// Whatever is wrong with a file, it is a miss.
func TestMisses(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	f := open(t, dir)
	write(t, f, entry("c", "a"))
	path := files(t, dir)[0]
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	foreign := open(t, other)
	write(t, foreign, entry("c", "a"))
	copied, err := os.ReadFile(files(t, other)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-1], "short": good[:10], "changed": bytes.Replace(good, []byte(`"a":1`), []byte(`"a":2`), 1),
		"longer": append(bytes.Clone(good), ' '), "of another user": copied, "too large": append(bytes.Clone(good), make([]byte, 17<<20)...),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if e := f.Read("c", "a"); e != nil {
			t.Errorf("%s: got %+v", name, e)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil || f.Read("c", "a") == nil {
		t.Error("the file itself is a miss", err)
	}
	renamed := filepath.Join(dir, strings.Repeat("0", 32)+".catalog")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil || f.Read("c", "a") != nil {
		t.Error("a folder is an entry", err, renamed)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	f = open(t, dir) // with another key
	write(t, f, entry("c", "b"))
	if open(t, dir).Read("c", "b") == nil {
		t.Error("the new key was not stored")
	}
}

// What is stored has a limit, and so has one entry.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	large := entry("c", "large")
	large.Listing, _ = json.Marshal(strings.Repeat("x", catalog.MaxBytes))
	if err := f.Write(large); !errors.Is(err, catalog.ErrTooLarge) || len(files(t, dir)) != 0 {
		t.Error(err, files(t, dir))
	}
	old := time.Now().Add(-91 * 24 * time.Hour)
	write(t, f, entry("c", "old"))
	stale := filepath.Join(dir, atomicfile.TempName())
	if err := errors.Join(os.Chtimes(files(t, dir)[0], old, old), os.WriteFile(stale, nil, 0o600), os.Chtimes(stale, old, old)); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // entries of 15 MiB, without writing so much
		path := filepath.Join(dir, fmt.Sprintf("%032d.catalog", i))
		hour := time.Now().Add(time.Duration(i-21) * time.Hour)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 15<<20), os.Chtimes(path, hour, hour)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, f, entry("c", "new"))
	if left := files(t, dir); len(left) != 18 || slices.ContainsFunc(left, func(path string) bool { return strings.HasSuffix(path, "002.catalog") }) {
		t.Errorf("%d files are left, want the 17 newest of 15 MiB and the new one", len(left))
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a temporary file of a process that has ended is still there")
	}
	if f.Read("c", "old") != nil || f.Read("c", "new") == nil {
		t.Error("want the newest entries")
	}
}

// Processes that open a new folder at the same time agree on its key.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			f, err := catalog.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			if err := f.Write(entry("c", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
			if err := f.Write(entry("c", "same")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f := open(t, dir)
	for i := range 20 {
		if f.Read("c", fmt.Sprint(i)) == nil {
			t.Errorf("entry %d is a miss", i)
		}
	}
	if f.Read("c", "same") == nil {
		t.Error("the entry that all have written is a miss")
	}
}

func TestFingerprint(t *testing.T) {
	one, other := open(t, t.TempDir()), open(t, t.TempDir())
	secret := map[string]string{"Authorization": "Bearer hunter2"}
	a, err := one.Fingerprint(secret)
	b, _ := one.Fingerprint(secret)
	c, _ := other.Fingerprint(secret)
	d, _ := one.Fingerprint(map[string]string{"Authorization": "Bearer hunter3"})
	if err != nil || a != b || a == c || a == d {
		t.Error(a, b, c, d, err)
	}
	if _, err := one.Fingerprint(func() {}); err == nil {
		t.Error("a function has no JSON")
	}
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	folder, err := catalog.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	if err := folder.Write(entry("c", "a")); err != nil {
		f.Fatal(err)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.catalog"))
	good, err := os.ReadFile(found[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[1:])
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(found[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		if e := folder.Read("c", "a"); (e != nil) != bytes.Equal(data, good) {
			t.Errorf("got %+v", e)
		}
	})
}
