package configfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
)

// Writers of one file that compare before they replace it lose nothing, also through a
// symbolic link.
func TestWithLock(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "settings"))
	t.Setenv("HOME", dir)
	file, alias := filepath.Join(dir, "f"), filepath.Join(dir, "alias")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, alias); err != nil {
		t.Skip("there are no links here:", err)
	}
	changed := errors.New("changed")
	add := func(path, line string) error {
		before, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return configfile.WithLock(t.Context(), path, func() error {
			return configfile.SaveIf(path, append(before, line...), func() error {
				now, err := os.ReadFile(path)
				if err == nil && !configfile.Equal(now, before) {
					err = changed
				}
				return err
			})
		})
	}
	const writers, each = 8, 10
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			path := []string{file, alias}[w%2]
			for i := 0; i < each; {
				err := add(path, fmt.Sprintf("%d-%d\n", w, i))
				if err == nil {
					i++
				} else if !errors.Is(err, changed) {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	data, err := os.ReadFile(file)
	if err != nil || strings.Count(string(data), "\n") != writers*each {
		t.Errorf("%d lines, %v", strings.Count(string(data), "\n"), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".toolpost-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
