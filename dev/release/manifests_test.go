//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// manifests are the files that the people of a registry read, and that are the same
// whatever the programs are.
var manifests = []string{
	"homebrew/toolpost.rb", "mcp-registry/redmine/server.json", "mcp-registry/toolpost/server.json",
	"winget/Toolpost.Toolpost.installer.yaml", "winget/Toolpost.Toolpost.locale.en-US.yaml", "winget/Toolpost.Toolpost.yaml",
}

var digestPattern = regexp.MustCompile("[0-9a-fA-F]{64}")

// TestManifests compares what registries read with golden files.
func TestManifests(t *testing.T) {
	r := stubRelease(t, "v9.8.7-rc.1")
	for _, write := range []func(*release) error{writeArchives, writeBundles, writeRegistry, writeHomebrew, writeWinget} {
		if err := write(r); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string][]byte{}
	for _, name := range manifests {
		got[name] = read(t, filepath.Join(r.out, name))
	}
	for _, name := range []string{"toolpost_9.8.7-rc.1_windows_amd64.mcpb", "toolpost-redmine_9.8.7-rc.1_darwin_arm64.mcpb"} {
		data := read(t, filepath.Join(r.out, name))
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if z.File[0].Name != "manifest.json" || z.File[1].Mode() != 0o755 {
			t.Errorf("%s begins with %s, %s (%v)", name, z.File[0].Name, z.File[1].Name, z.File[1].Mode())
		}
		got[name+".json"] = []byte(unzip(t, z.File[0]))
	}
	archives := map[string]bool{} // the checksums
	for _, p := range r.programs {
		_, digest, err := r.download(p)
		if err != nil {
			t.Fatal(err)
		}
		archives[digest] = true
	}
	for name, data := range got {
		data = digestPattern.ReplaceAllFunc(data, func(digest []byte) []byte {
			if !archives[strings.ToLower(string(digest))] {
				t.Errorf("%s: no archive has the checksum %s", name, digest)
			}
			return []byte("SHA256") // it changes with the README
		})
		golden := filepath.Join("testdata", strings.ReplaceAll(name, "/", "-"))
		if os.Getenv("TOOLPOST_UPDATE") != "" {
			if err := os.WriteFile(golden, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := read(t, golden); !bytes.Equal(data, want) {
			t.Errorf("%s is\n%s\nwant\n%s", name, data, want)
		}
	}
}

// TestFormula: the formula is Ruby.
func TestFormula(t *testing.T) {
	ruby := need(t, "ruby")
	r := stubRelease(t, "v9.8.7")
	for _, write := range []func(*release) error{writeArchives, writeHomebrew} {
		if err := write(r); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(ruby, "-c", filepath.Join(r.out, "homebrew/toolpost.rb")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBundleRuns installs the bundle of the gateway with a program that reads bundles,
// which is toolpost, and lists its tools.
func TestBundleRuns(t *testing.T) {
	r := liveRelease(t, writeBundles)
	m := newMachine(t)
	binary := m.path("toolpost")
	data, err := build()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	name := r.base(program{goos: runtime.GOOS, goarch: runtime.GOARCH}) + ".mcpb"
	m.run(binary, "add", filepath.Join(r.out, name), "--yes")
	if out := m.run(binary, "list", "--config", "toolpost.json"); !bytes.Contains([]byte(out), []byte("grep")) {
		t.Errorf("the bundle lists\n%s", out)
	}
}
