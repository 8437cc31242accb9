//go:build unix

// Package live runs the built commands against real peers: the reference MCP
// servers, the official clients and the conformance suites. "make live"
// installs them and sets TOOLPOST_LIVE; without it the tests are skipped.
package live

import (
	_ "embed"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

//go:embed peers.txt
var peers string

// peer returns the file of an installed package. Name and version are those
// of a line of peers.txt, the version as far as it is needed to tell lines apart.
func peer(t *testing.T, name, version, file string) string {
	t.Helper()
	cache := os.Getenv("TOOLPOST_LIVE")
	if cache == "" {
		t.Skip(`TOOLPOST_LIVE is not set: "make live" installs the peers and runs this`)
	}
	for line := range strings.Lines(peers) {
		f := strings.Fields(line)
		if f[0] != name || !strings.HasPrefix(f[1], version) {
			continue
		}
		found := filepath.Join(cache, path.Base(name)+"-"+f[1], file)
		if _, err := os.Stat(found); err != nil {
			t.Fatalf("%v: run internal/live/install.sh", err)
		}
		return found
	}
	t.Fatalf("peers.txt does not name %s %s", name, version)
	return ""
}

func node(t *testing.T) string { return peer(t, "node", "", "node_modules/node/bin/node") }

func server(t *testing.T, name string) string {
	return peer(t, "@modelcontextprotocol/server-"+name, "", "node_modules/.bin/mcp-server-"+name)
}

// built makes each command of this module once, in a folder that ends with the tests.
var built struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build returns the binary of a main package of this module.
func build(t *testing.T, pkg string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "toolpost-live-")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
	}
	bin := filepath.Join(built.dir, strings.ReplaceAll(pkg, "/", "-"))
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	cmd := exec.Command("go", "build", "-o", bin, "./"+pkg)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return bin
}
