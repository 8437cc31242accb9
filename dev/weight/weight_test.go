package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEscaped(t *testing.T) {
	if got := escaped("github.com/BurntSushi/toml"); got != "github.com/!burnt!sushi/toml" {
		t.Errorf("got %s", got)
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("got %v", got)
	}
}

// TestLinkedModules checks that each module is counted once, with its size, and that
// those of tests and tools are not.
func TestLinkedModules(t *testing.T) {
	all, err := linkedModules(program)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]float64{}
	for _, m := range all {
		if _, twice := sizes[m.path]; twice || m.size <= 0 {
			t.Errorf("%s has %v MB, or is there twice", m.path, m.size)
		}
		sizes[m.path] = m.size
	}
	if !slices.IsSortedFunc(all, func(a, b linkedModule) int { return int(1e6 * (b.size - a.size)) }) {
		t.Error("the largest is not first")
	}
	for name, want := range map[string]bool{"github.com/spf13/cobra": true, "go.uber.org/goleak": false, "github.com/toolpost/toolpost": false} {
		if _, linked := sizes[name]; linked != want {
			t.Errorf("%s is linked: %v", name, linked)
		}
	}
}

// TestTable compares the table of docs/library.md with what is measured. The sizes of
// programs are their limits, because building takes long.
func TestTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range libraryUses() {
		d, err := measureDownload(use.program, 0)
		if err != nil {
			t.Fatal(err)
		}
		row := fmt.Sprintf("| %s | %g MB | %d, at most %g MB | %d |\n", use.uses, use.binary, d.modules, use.download, d.sums)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/library.md does not have this row:\n%s", row)
		}
	}
}

// TestModuleSize checks that a module is measured without those in its folders, and
// without what git ignores.
func TestModuleSize(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("needs git: %v %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("/built\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 100_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, name := range []string{"go.mod", "a/noise", "b/go.mod", "b/noise", "built"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, noise, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := moduleSize(dir); err != nil || got < 0.2 || got > 0.21 {
		t.Errorf("%v MB, %v; want the two files", got, err)
	}
}
