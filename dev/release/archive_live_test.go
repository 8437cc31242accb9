//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestArchiveRuns: the program of the archive works where it is unpacked.
func TestArchiveRuns(t *testing.T) {
	r := liveRelease(t, writeArchives)
	m := newMachine(t)
	before := m.files()
	contents := untar(t, read(t, filepath.Join(r.out, r.base(program{goos: runtime.GOOS, goarch: runtime.GOARCH})+".tar.gz")))
	binary := m.path("toolpost")
	if err := os.WriteFile(binary, contents["toolpost"], 0o755); err != nil {
		t.Fatal(err)
	}
	if len(contents["LICENSE"]) == 0 || len(contents["README.md"]) == 0 {
		t.Error("the archive lacks the licence or the README")
	}
	m.tryOut(binary)
	if err := os.Remove(binary); err != nil {
		t.Fatal(err)
	}
	m.unchanged(before)
}
