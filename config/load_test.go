package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost/config"
)

// load loads a configuration from a new folder.
func load(t *testing.T, dir, text string) *config.Config {
	t.Helper()
	path := filepath.Join(dir, "toolpost.json")
	write(t, path, text)
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestDigest(t *testing.T) {
	dir := t.TempDir()
	text := `{"mcpServers": {"a": {"command": "x", "envFile": "vars", "env": {"T": "${UNSET_FOR_THIS_TEST}"}}}}`
	digests := map[string]string{}
	step := func(name string) {
		digest := load(t, dir, text).Digest
		if other := digests[digest]; other != "" || len(digest) != 64 {
			t.Errorf("%q and %q have the digest %q", other, name, digest)
		}
		digests[digest] = name
	}
	step("no environment file")
	write(t, filepath.Join(dir, "vars"), "")
	step("an empty one")
	write(t, filepath.Join(dir, "vars"), "A=1")
	step("another")
	before := load(t, dir, text).Digest
	t.Setenv("UNSET_FOR_THIS_TEST", "x")
	if load(t, dir, text).Digest != before {
		t.Error("the digest depends on a variable of the user")
	}
	text += "\n"
	step("another file")
	if err := os.Remove(filepath.Join(dir, "vars")); err != nil {
		t.Fatal(err)
	}
}
