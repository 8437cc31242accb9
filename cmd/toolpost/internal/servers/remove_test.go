package servers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost/internal/policy/trust"
)

// The folder of a bundle that another approved configuration uses stays.
func TestBundleOfTwoConfigurations(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	folder, err := bundleFolder()
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(folder, "Weather-0123456789abcdef")
	if err := os.MkdirAll(bundle, 0o700); err != nil {
		t.Fatal(err)
	}
	with := []byte(`{"mcpServers":{"w":{"command":"` + filepath.ToSlash(bundle) + `/run","cwd":"` + filepath.ToSlash(bundle) + `"}}}`)
	one, two := filepath.Join(dir, "one.json"), filepath.Join(dir, "two.json")
	if err := os.WriteFile(two, with, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := trust.Open()
	if err != nil {
		t.Fatal(err)
	}
	place, err := trust.Locate(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Approve(&trust.Approval{File: place, Digest: "x"}); err != nil {
		t.Fatal(err)
	}
	exists := func() bool { _, err := os.Stat(bundle); return err == nil }
	without := []byte(`{"mcpServers":{}}`)
	if err := removeBundles(one, with, without); err != nil || !exists() {
		t.Errorf("the other configuration lost its bundle: %v", err)
	}
	if err := os.WriteFile(two, without, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeBundles(one, with, without); err != nil || exists() {
		t.Errorf("nobody uses it: %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
