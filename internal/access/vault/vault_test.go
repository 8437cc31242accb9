package vault

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

// A memoryKeyring is a keyring with the limit of Windows, and may stop working.
type memoryKeyring struct {
	mu      sync.Mutex
	all     map[string]string
	broken  error
	writes  int // after which it stops working; 0 for never
	deletes int // after which it stops deleting; 0 for never
}

func (m *memoryKeyring) Get(user string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text, ok := m.all[user]; ok || m.broken != nil {
		return text, m.broken
	}
	return "", keyring.ErrNotFound
}

func (m *memoryKeyring) Set(user, password string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes--; m.writes == 0 {
		m.broken = errors.New("it is locked")
	}
	if m.broken != nil {
		return m.broken
	}
	if len(password) > 2560 {
		return keyring.ErrSetDataTooBig
	}
	m.all[user] = password
	return nil
}

func (m *memoryKeyring) Delete(user string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deletes--; m.deletes == 0 {
		m.broken = errors.New("it is locked")
	}
	if _, ok := m.all[user]; !ok && m.broken == nil {
		return keyring.ErrNotFound
	}
	if m.broken != nil {
		return m.broken
	}
	delete(m.all, user)
	return nil
}

// each runs a test with every kind of vault. Open opens the same one again, as
// another process does.
func each(t *testing.T, test func(t *testing.T, open func() Vault)) {
	for _, kind := range []Kind{Files, Encrypted, Keyring} {
		t.Run(string(kind), func(t *testing.T) {
			dir, key := t.TempDir(), NewKey()
			system := &memoryKeyring{all: map[string]string{}}
			test(t, func() Vault {
				if kind == Keyring {
					return newKeyring(filepath.Join(dir, "secrets"), "", system)
				}
				v, err := Open(Choice{Kind: kind, Why: "test"}, dir, func(string) string { return key })
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
		})
	}
}

func set(t *testing.T, v Vault, name string, secret []byte) {
	t.Helper()
	if err := v.Update(t.Context(), name, func([]byte) ([]byte, error) { return secret, nil }); err != nil {
		t.Fatal(err)
	}
}

func TestVaults(t *testing.T) {
	each(t, func(t *testing.T, open func() Vault) {
		v := open()
		if _, err := v.Get("a"); !errors.Is(err, ErrNotFound) {
			t.Errorf("an empty vault: %v", err)
		}
		if names, err := v.Names(); len(names) != 0 || err != nil {
			t.Errorf("an empty vault lists %q, %v", names, err)
		}
		for _, size := range []int{0, 1, partSize, partSize + 1, longestSecret, 5} {
			secret := bytes.Repeat([]byte{'s', 0, 0xff}, size)[:size]
			set(t, v, "a/../b ü", secret)
			if got, err := open().Get("a/../b ü"); !bytes.Equal(got, secret) || got == nil || err != nil {
				t.Errorf("a secret of %d bytes: got %d bytes, %v", size, len(got), err)
			}
		}
		set(t, v, "other", []byte("x"))
		if names, err := v.Names(); !slices.Equal(names, []string{"a/../b ü", "other"}) || err != nil {
			t.Errorf("got %q, %v", names, err)
		}
		no := errors.New("no")
		err := v.Update(t.Context(), "other", func(old []byte) ([]byte, error) {
			if string(old) != "x" {
				t.Errorf("got %q", old)
			}
			return []byte("lost"), no
		})
		if got, _ := v.Get("other"); !errors.Is(err, no) || string(got) != "x" {
			t.Errorf("after a refused change: %q, %v", got, err)
		}
		set(t, v, "other", nil)
		set(t, v, "other", nil)
		if _, err := v.Get("other"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a removed secret: %v", err)
		}
		for _, name := range []string{"", "a\nb", strings.Repeat("n", longestName+1), "\u202e"} {
			if err := v.Update(t.Context(), name, func([]byte) ([]byte, error) { return []byte("x"), nil }); err == nil {
				t.Errorf("the name %q is accepted", name)
			}
			if _, err := v.Get(name); err == nil || errors.Is(err, ErrNotFound) {
				t.Errorf("the name %q: %v", name, err)
			}
		}
		err = v.Update(t.Context(), "long", func([]byte) ([]byte, error) { return make([]byte, longestSecret+2<<10), nil })
		if err == nil || !strings.Contains(err.Error(), "at most 65536") {
			t.Errorf("a long secret: %v", err)
		}
	})
}

// No update is lost, and no reader sees a part of one.
func TestConcurrentUpdates(t *testing.T) {
	each(t, func(t *testing.T, open func() Vault) {
		pad := strings.Repeat("-", partSize)
		set(t, open(), "n", []byte("0"+pad+"0"))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				err := open().Update(context.Background(), "n", func(old []byte) ([]byte, error) {
					before, _, _ := strings.Cut(string(old), "-")
					n, err := strconv.Atoi(before)
					next := strconv.Itoa(n + 1)
					return []byte(next + pad + next), err
				})
				if err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				got, err := open().Get("n")
				before, after, ok := strings.Cut(string(got), pad)
				if !ok || before != after || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
		all.Wait()
		if got, err := open().Get("n"); string(got) != "8"+pad+"8" || err != nil {
			t.Errorf("got %q, %v: an update was lost", got, err)
		}
	})
}

func TestEncryptedFiles(t *testing.T) {
	dir, key := t.TempDir(), NewKey()
	open := func(key string) (Vault, error) {
		return Open(Choice{Kind: Encrypted}, dir, func(string) string { return key })
	}
	v, err := open(key + "=")
	if err != nil {
		t.Fatal(err)
	}
	set(t, v, "a", []byte("the content"))
	set(t, v, "b", []byte("other content"))
	path := func(name string) string { return v.(*sealedVault).path(name) }
	data, err := os.ReadFile(path("a"))
	if err != nil || bytes.Contains(data, []byte("content")) {
		t.Errorf("the file has %q, %v", data, err)
	}

	other, err := open(NewKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Get("a"); err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "another key") {
		t.Errorf("another key: %v", err)
	}
	if err := other.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("x"), nil }); err == nil {
		t.Error("another key overwrites a secret")
	}
	if err := os.WriteFile(path("b"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Get("b"); err == nil {
		t.Errorf("the file of another secret is read: %q", got)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path("a"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Get("a"); err == nil {
		t.Errorf("a changed file is read: %q", got)
	}
	for _, key := range []string{"", "correct horse battery staple", strings.Repeat("a", 20)} {
		if _, err := open(key); err == nil || !strings.Contains(err.Error(), "toolpost secret key") {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	if _, err := open(strings.Repeat("0f", 32)); err != nil {
		t.Errorf("a key of hexadecimal digits: %v", err)
	}
}

// A keyring that stops working during an update keeps the secret as it was.
func TestKeyringStops(t *testing.T) {
	system := &memoryKeyring{all: map[string]string{}}
	v := newKeyring(t.TempDir(), "", system)
	set(t, v, "a", []byte("old"))
	set(t, v, "a", []byte("older secrets stay until the next update"))
	set(t, v, "a", []byte("old"))
	system.writes = 2
	err := v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return make([]byte, 3*partSize), nil })
	if err == nil || !strings.Contains(err.Error(), "it is locked") || !strings.Contains(err.Error(), "toolpost secret use") {
		t.Errorf("got %v", err)
	}
	if _, err := v.Get("a"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a locked keyring: %v", err)
	}
	system.broken = nil
	if got, err := v.Get("a"); string(got) != "old" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	set(t, v, "a", []byte("new"))
	clear(system.all) // the user has emptied the keyring
	if _, err := v.Get("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an emptied keyring: %v", err)
	}
	set(t, v, "a", []byte("set again"))
	if got, err := v.Get("a"); string(got) != "set again" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	set(t, v, "a", nil)
	if len(system.all) > 0 {
		t.Errorf("a removed secret leaves %d items", len(system.all))
	}
}

// A secret of many parts of which one is lost can be removed and set again. No part
// of it stays in the keyring, also not after a removal that was interrupted.
func TestKeyringLosesPart(t *testing.T) {
	for _, lost := range []int{0, 2, 4} {
		system := &memoryKeyring{all: map[string]string{}}
		v := newKeyring(t.TempDir(), "", system).(*keyringVault)
		set(t, v, "a", make([]byte, 6*partSize)) // slot a
		set(t, v, "a", make([]byte, 5*partSize)) // slot b
		for _, slot := range []string{"a", "b"} {
			delete(system.all, v.item("a", slot, lost))
		}
		if _, err := v.Get("a"); !errors.Is(err, ErrNotFound) {
			t.Errorf("part %d is lost: %v", lost, err)
		}
		if listed, err := Has(v, "a"); !listed || err != nil {
			t.Errorf("part %d is lost: it is not listed, %v", lost, err)
		}
		system.deletes = 3
		if err := v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return nil, nil }); err == nil {
			t.Error("a keyring that stops is not reported")
		}
		system.broken = nil
		set(t, v, "a", nil)
		if len(system.all) > 0 {
			t.Errorf("part %d was lost: %d items are left", lost, len(system.all))
		}
		set(t, v, "a", []byte("again"))
		if got, err := v.Get("a"); string(got) != "again" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// A secret that other users may have read is not used, and the files of writers
// that were killed are removed by the next one.
func TestFilesOfKilledWriters(t *testing.T) {
	dir := t.TempDir()
	v := &folder{dir: dir}
	set(t, v, "a", []byte("x"))
	set(t, v, "b", []byte("y"))
	left := func(name string) (temp string) {
		err := atomicfile.Write(v.path(name), nil, &atomicfile.Options{Check: func() error {
			found, err := filepath.Glob(filepath.Join(dir, ".toolpost-*"))
			for _, file := range found {
				if info, err := os.Stat(file); err == nil && info.Size() == 0 {
					temp = file
				}
			}
			return errors.Join(err, errors.New("killed"))
		}})
		if temp == "" || os.WriteFile(temp, []byte("x"), 0o600) != nil {
			t.Fatal(temp, err)
		}
		return temp
	}
	leftBefore := func(name string) string { // by an earlier version
		temp := v.path(name) + "-1234.tmp"
		if err := os.WriteFile(temp, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return temp
	}
	check := func(want bool, files ...string) {
		t.Helper()
		for _, file := range files {
			if _, err := os.Stat(file); (err == nil) != want {
				t.Errorf("%s is there: %v", file, err == nil)
			}
		}
	}
	mine, others := []string{left("a"), leftBefore("a")}, []string{left("b"), leftBefore("b")}
	set(t, v, "a", []byte("z"))
	check(false, mine...)
	set(t, v, "c", []byte("x"))
	removed := []string{left("c"), leftBefore("c")}
	set(t, v, "c", nil)
	check(false, removed...)
	check(true, others...)
	never := leftBefore("d") // such a secret was never complete
	set(t, v, "d", nil)
	check(false, never)
	if runtime.GOOS == "windows" {
		return
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604} {
		if err := os.Chmod(v.path("a"), mode); err != nil {
			t.Fatal(err)
		}
		if got, err := v.Get("a"); err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %q, %v", mode, got, err)
		}
	}
}

func TestChosen(t *testing.T) {
	dir := t.TempDir()
	variable := ""
	getenv := func(name string) string { return map[string]string{Variable: variable}[name] }
	check := func(want Kind, why string) {
		t.Helper()
		if c, err := Chosen(dir, getenv); c.Kind != want || !strings.Contains(c.Why, why) || err != nil {
			t.Errorf("got %v, %v", c, err)
		}
	}
	check(Keyring, "the default")
	if err := Choose(dir, Files); err != nil {
		t.Fatal(err)
	}
	check(Files, "toolpost secret use")
	variable = "encrypted"
	check(Encrypted, Variable)
	variable = "plain"
	if _, err := Chosen(dir, getenv); err == nil || !strings.Contains(err.Error(), "choose keyring, encrypted or files") {
		t.Error(err)
	}
	if err := Choose(dir, "plain"); err == nil {
		t.Error("an unknown vault is chosen")
	}
	variable = ""
	if err := os.WriteFile(choiceFile(dir), []byte(strings.Repeat("x", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Chosen(dir, getenv); err == nil {
		t.Error("a broken choice is not reported")
	}
}

// Without a keyring there is an error, and nothing is kept elsewhere.
func TestNoKeyring(t *testing.T) {
	if _, err := os.Stat("/run/user"); err == nil {
		t.Skip("there may be a session bus")
	}
	dir := t.TempDir()
	_, err := Open(Choice{Kind: Keyring}, dir, func(string) string { return "" })
	if err == nil {
		t.Skip("this system has a keyring without a session bus")
	}
	if !strings.Contains(err.Error(), "toolpost secret use encrypted") {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%d files were written", len(entries))
	}
}
