package config_test

import (
	"os"
	"path/filepath"
	"reflect"
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

// What was parsed is, with the files that it names, what Load returns.
func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vars"), "A=of the file\nB=1")
	const text = `{"mcpServers": {"a": {"command": "x", "envFile": "vars", "env": {"B": "2"}}}}`
	loaded, path := load(t, dir, text), filepath.Join(dir, "toolpost.json")
	parsed, err := config.Parse(path, []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	if s := parsed.Servers[0]; s.Env["A"] != "" || s.Dir != "" || parsed.File != "" {
		t.Errorf("Parse has read files: %+v", s)
	}
	parsed.ReadFiles()
	if s := parsed.Servers[0]; s.Env["A"] != "of the file" || s.Env["B"] != "2" || !reflect.DeepEqual(parsed.Servers, loaded.Servers) || parsed.Digest != loaded.Digest || parsed.File != path {
		t.Errorf("got %+v", parsed)
	}
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
