package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/install"
)

// The name of a bundle's folder has the whole digest, and folders that a killed
// process left are removed.
func TestBundleFolder(t *testing.T) {
	file := bundle(t, member{"manifest.json", manifest, 0}, member{"bin/run", "#!", 0o755})
	dir := filepath.Join(t.TempDir(), "bundles")
	p, err := install.FromBundle(file, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if name := filepath.Base(p.Folder()); len(name) != len("My-Weather-")+64 {
		t.Errorf("the folder is %s", name)
	}
	left, fresh := filepath.Join(dir, ".new-1"), filepath.Join(dir, ".new-2")
	for _, path := range []string{left, fresh} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	if err := p.Unpack(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("an old folder is left")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("the folder of another process is removed")
	}
}

func TestVariablesOfContainerTools(t *testing.T) {
	for _, name := range []string{"CONTAINER_HOST", "CONTAINERS_CONF", "container_sshkey"} {
		text := `{"name": "a/b", "packages": [{"registryType": "oci", "identifier": "a/b", "environmentVariables": [{"name": "` + name + `", "value": "x"}]}]}`
		if _, err := install.FromServerJSON([]byte(text), "", nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An option that an error proposes is one word for a shell, whatever a stranger
// calls a value.
func TestProposedOptionIsQuoted(t *testing.T) {
	const text = `{"name": "a/b", "remotes": [{"type": "sse", "url": "https://a.example/", "headers": [{"name": "x'; rm -rf $HOME #", "choices": ["a"], "default": "a"}]}]}`
	_, err := install.FromServerJSON([]byte(text), "", &install.Answers{Given: map[string][]string{"x'; rm -rf $HOME #": {"b"}}})
	if err == nil || !strings.Contains(err.Error(), `--set 'x'\''; rm -rf $HOME #=VALUE'`) {
		t.Error(err)
	}
}
