//go:build unix

package live

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed peers.txt
var peers string

// peer returns the file of an installed package, which may be a pattern. Name
// and version are those of a line of peers.txt, the version as far as it is
// needed to tell lines apart. A test ends here if it needs an optional peer
// that is not to be had for this machine.
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
		dir := filepath.Join(cache, path.Base(name)+"-"+f[1])
		found, err := filepath.Glob(filepath.Join(dir, file))
		switch {
		case len(found) > 0:
			return slices.Max(found)
		case slices.Contains(f, "optional"):
			t.Skipf("%s %s is not to be had for %s/%s: there is no %s in %s", name, f[1], runtime.GOOS, runtime.GOARCH, file, dir)
		}
		t.Fatalf("no %s in %s (%v): run dev/live/install.sh", file, dir, err)
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
	if len(os.Args) == 4 && os.Args[1] == "poison" {
		if err := servePoison(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "long" {
		longStdio()
		return
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build returns the binary of a main package: one of this module, or of a
// module that this one needs.
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
	if host, _, _ := strings.Cut(pkg, "/"); !strings.Contains(host, ".") {
		pkg = "./" + pkg
	}
	cmd := exec.Command("go", "build", "-o", bin, pkg)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

//go:embed pypi.txt
var pypi string

// pythonOf returns the interpreter that has a package of pypi.txt. The test ends
// here if it could not be installed.
func pythonOf(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(os.Getenv("TOOLPOST_LIVE"), "pypi-"+name+"-"+installedVersion(name, ""), "bin", "python")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%v: python3 with its module venv is needed, and dev/live/install.sh", err)
	}
	return file
}

// installedVersion returns the version of a line of peers.txt or pypi.txt, or of
// what such a line needs in addition.
func installedVersion(name, version string) string {
	for line := range strings.Lines(peers + pypi) {
		f := strings.Fields(line)
		if f[0] == name && strings.HasPrefix(f[1], version) {
			return f[1]
		}
		for _, need := range f[2:] {
			if v, ok := strings.CutPrefix(need, name+"=="); ok {
				return v
			}
		}
	}
	return ""
}
