package vault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/internal/access/vault"
)

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	v := vault.Folder(dir)
	if _, err := v.Get("a"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("an empty vault: %v", err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := vault.Folder(dir).Update(context.Background(), "a/../b c", func(old []byte) ([]byte, error) {
				n, _ := strconv.Atoi(string(old))
				return strconv.AppendInt(nil, int64(n)+1, 10), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := v.Get("a/../b c"); string(got) != "20" || err != nil {
		t.Errorf("got %q, %v: an update was lost", got, err)
	}
	if names, err := v.Names(); !slices.Equal(names, []string{"a/../b c"}) || err != nil {
		t.Errorf("got %q, %v", names, err)
	}
	failed := errors.New("no")
	if err := v.Update(t.Context(), "a/../b c", func([]byte) ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if err := v.Update(t.Context(), "a/../b c", func([]byte) ([]byte, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	if _, err := v.Get("a/../b c"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("a removed secret: %v", err)
	}
}

// A secret that others may have written or can read is not used.
func TestFolderOfOthers(t *testing.T) {
	dir := t.TempDir()
	v := vault.Folder(dir)
	keep := func([]byte) ([]byte, error) { return []byte("x"), nil }
	if err := v.Update(t.Context(), "a", keep); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" { // which has no such modes
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Get("a"); err == nil || errors.Is(err, vault.ErrNotFound) || v.Update(t.Context(), "b", keep) == nil {
			t.Errorf("a folder in which others can put files is used: %v", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*-secret"))
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", found[0]); err != nil {
		t.Skip(err)
	}
	if _, err := v.Get("a"); err == nil || errors.Is(err, vault.ErrNotFound) {
		t.Errorf("a link was read: %v", err)
	}
}
