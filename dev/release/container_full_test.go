//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFullImage runs servers that npx and uvx start in a Debian that has what the image
// with Node and uv has: the packages that the Dockerfile names, and Node, npm and uv. The
// servers are toolpost itself, from registries on loopback.
func TestFullImage(t *testing.T) {
	uv, err := filepath.Glob(filepath.Join(os.Getenv("TOOLPOST_LIVE"), "pypi-uv-*/bin"))
	if err != nil || len(uv) == 0 && os.Getenv("TOOLPOST_LIVE") != "" {
		t.Skip("uv is not installed")
	}
	r := liveRelease(t, func(r *release) error { return errors.Join(writeNPM(r), writeWheels(r)) })
	m := newRoot(t, debianRoot(t), "/data", 65532, "PATH=/usr/local/bin:/usr/bin:/bin")
	for _, name := range []string{"uv", "uvx"} {
		m.put("usr/local/bin/"+name, read(t, filepath.Join(uv[0], name)))
	}
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	m.put("toolpost", program)
	environment := map[string]string{
		"npm_config_registry": npmRegistry(t, filepath.Join(r.out, "npm")), "npm_config_update_notifier": "false",
		"UV_DEFAULT_INDEX": pythonIndex(t, filepath.Join(r.out, "pypi")), "UV_PYTHON_DOWNLOADS": "never",
	}
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"node":   map[string]any{"command": "npx", "args": []string{"--yes", "toolpost", "serve", "--stdio", "--root", "/data"}, "env": environment},
		"python": map[string]any{"command": "uvx", "args": []string{"toolpost", "serve", "--stdio", "--root", "/data"}, "env": environment},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m.put("servers.json", servers)
	out := m.run("/toolpost", "list", "--config", "/servers.json", "--timeout", "120s")
	for _, want := range []string{"node__grep", "python__grep"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %s:\n%s", want, out)
		}
	}
	m.tryOut("/toolpost")
}

// put writes a program or a file below the root of a machine.
func (m *machine) put(name string, data []byte) {
	m.Helper()
	if err := os.WriteFile(filepath.Join(m.root, name), data, 0o755); err != nil {
		m.Fatal(err)
	}
}

var aptPattern = regexp.MustCompile(`apt-get install -y --no-install-recommends ([a-z0-9 -]+) \\`)

// debianRoot returns a folder with a Debian that has the packages of the Dockerfile and
// Node. It is made once in the cache of the live tests; its files are links to those.
func debianRoot(t *testing.T) string {
	t.Helper()
	packages := aptPattern.FindStringSubmatch(string(read(t, "../../Dockerfile")))
	if packages == nil {
		t.Fatal("the Dockerfile installs no packages")
	}
	cache := os.Getenv("TOOLPOST_LIVE")
	made := filepath.Join(cache, "debian-trixie-"+strings.ReplaceAll(packages[1], " ", "-"))
	if _, err := os.Stat(made); err != nil {
		mmdebstrap := need(t, "mmdebstrap")
		node, npm := need(t, "node"), need(t, "npm")
		if all := nodes(t); len(all) > 0 {
			node = all[0]
		}
		folder, err := os.MkdirTemp(cache, ".new-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(folder)
		root := filepath.Join(folder, "root")
		if out, err := exec.Command(mmdebstrap, "--variant=minbase", "--keyring=/usr/share/keyrings/debian-archive-keyring.gpg", "--aptopt=Apt::Install-Recommends \"false\"",
			"--include="+strings.ReplaceAll(packages[1], " ", ","), "trixie", root).CombinedOutput(); err != nil {
			t.Skipf("mmdebstrap cannot make a Debian here: %v\n%s", err, out)
		}
		if npm, err = filepath.EvalSymlinks(npm); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{
			"cp -L " + node + " usr/local/bin/node", "mkdir -p usr/local/lib/node_modules", "cp -r " + filepath.Dir(filepath.Dir(npm)) + " usr/local/lib/node_modules/npm",
			"ln -s ../lib/node_modules/npm/bin/npm-cli.js usr/local/bin/npm", "ln -s ../lib/node_modules/npm/bin/npx-cli.js usr/local/bin/npx",
		} {
			words := strings.Fields(command)
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
		if err := os.Rename(root, made); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	folder, err := os.MkdirTemp(cache, ".new-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	root := filepath.Join(folder, "root")
	if out, err := exec.Command("cp", "-al", made, root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return root
}
