package pins_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/internal/filelock"
	"github.com/toolpost/toolpost/internal/policy/pins"
)

// own returns the lock file of a configuration, in a configuration folder of the test.
func own(t *testing.T) *pins.File {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	f, err := pins.Own("/a/toolpost.json")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// put stores the first sight of tools of a server.
func put(t *testing.T, f *pins.File, server string, listed []pins.Listed) *pins.Lock {
	t.Helper()
	l, err := f.Update(t.Context(), func(l *pins.Lock) bool {
		l.Servers[server] = pins.Memory{}.Review(l.Servers[server], listed, false).Pins
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFile(t *testing.T) {
	f := own(t)
	if l, err := f.Read(); err != nil || len(l.Servers) > 0 {
		t.Fatal(l, err)
	}
	put(t, f, "s", list("<a>", "1 \u2028 & \u0000 \U000e0041", "b", ""))
	want := put(t, f, "s", list("b", "2"))
	got, err := f.Read()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s %v", diff, err)
	}
	other, err := pins.Own("/b/toolpost.json")
	if err != nil {
		t.Fatal(err)
	}
	if l, err := other.Read(); err != nil || len(l.Servers) > 0 {
		t.Error("two configurations share their pins")
	}
	entries, _ := os.ReadDir(filepath.Dir(f.Path()))
	if len(entries) != 2 { // and the one that processes lock
		t.Errorf("%d files are left", len(entries))
	}
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(t.Context(), func(*pins.Lock) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Path()); err == nil {
		t.Error("it is written without a change")
	}
}

// A file that is broken is an error that says what to do; it is not overwritten.
func TestBrokenFile(t *testing.T) {
	f := own(t)
	put(t, f, "s", list("a", "1"))
	good, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":          "",
		"cut":            string(good[:len(good)/2]),
		"another format": `{"version": 2, "servers": {}}`,
		"no version":     `{"servers": {}}`,
		"a list":         `[]`,
		"null":           `null`,
		"no pin":         `{"version": 1, "servers": {"s": {"a": null}}}`,
		"no definition":  `{"version": 1, "servers": {"s": {"a": {}}}}`,
		"edited":         strings.Replace(string(good), `"1"`, `"2"`, 1),
	} {
		if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := f.Read()
		_, e := f.Update(t.Context(), func(*pins.Lock) bool { t.Errorf("%s: it is changed", name); return true })
		for _, err := range []error{err, e} {
			if err == nil || !strings.Contains(err.Error(), f.Path()) || !strings.Contains(err.Error(), "restore it, or remove it") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now, _ := os.ReadFile(f.Path()); string(now) != text {
			t.Errorf("%s: it is overwritten", name)
		}
	}
	if err := errors.Join(os.Remove(f.Path()), os.Mkdir(f.Path(), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestFileBeside(t *testing.T) {
	own(t)
	dir := t.TempDir()
	f := pins.Beside(filepath.Join(dir, "toolpost.json"))
	if f.Path() != filepath.Join(dir, "toolpost.lock") {
		t.Error(f.Path())
	}
	if other := pins.Beside(filepath.Join(dir, "tools.json")); other.Path() != filepath.Join(dir, "tools.toolpost.lock") {
		t.Error(other.Path())
	}
	want := put(t, f, "s", list("b", "1", "a", "1"))
	if got, err := f.Read(); err != nil || !cmp.Equal(want, got) {
		t.Error(got, err)
	}
	before, _ := os.ReadFile(f.Path())
	put(t, f, "s", list("a", "1", "b", "1"))
	if after, _ := os.ReadFile(f.Path()); string(before) != string(after) {
		t.Error("the order of a list changes the file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are beside the configuration", len(entries))
	}
	// Without a home, as in some containers, it works too.
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, "")
	}
	put(t, pins.Beside(filepath.Join(dir, "toolpost.json")), "t", list("a", "1"))
	if _, err := pins.Own("x"); err == nil {
		t.Error("the user's state has a place")
	}
}

// Pins that processes make at the same time are all kept.
func TestFileConcurrent(t *testing.T) {
	f := own(t)
	var all sync.WaitGroup
	const n = 20
	for i := range n {
		all.Go(func() { put(t, f, fmt.Sprint(i), list("a", "1")) })
	}
	all.Wait()
	if l, err := f.Read(); err != nil || len(l.Servers) != n {
		t.Errorf("%d servers are left, %v", len(l.Servers), err)
	}
}

// A process that holds the lock does not keep others waiting for ever.
func TestFileHeld(t *testing.T) {
	f := own(t)
	put(t, f, "s", list("a", "1"))
	held, err := os.OpenFile(f.Path()+"-lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := filelock.Try(held, true); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := f.Update(ctx, func(*pins.Lock) bool { return true }); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v", err)
	}
	if l, err := f.Read(); err != nil || len(l.Servers) != 1 { // reading needs no lock
		t.Error(l, err)
	}
}

// What any server says can be stored and read again.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object","x":1e999,"y":-0,"z":"\ud800"}}`))
	f.Add([]byte(`{"b":1,"a":{"d":2,"c":[{"f":"<&>\u2028","e":null}]},"icons":[]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte("{\"a\":\"\xff\"}"))
	f.Add([]byte(`x`))
	dir := f.TempDir()
	f.Setenv("XDG_CONFIG_HOME", dir)
	file := pins.Beside(filepath.Join(dir, "toolpost.json"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := pins.NewDefinition(raw)
		if again := pins.NewDefinition(d.JSON); d.JSON != nil && again.Hash != d.Hash {
			t.Fatalf("%s is not canonical: %s", d.JSON, again.JSON)
		}
		put(t, file, "s", []pins.Listed{{Name: "a", Definition: d}})
		if _, err := file.Read(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file.Path()); err != nil {
			t.Fatal(err)
		}
	})
}
