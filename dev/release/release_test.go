package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// build compiles the program of this machine once for all live tests.
var build = sync.OnceValues(func() ([]byte, error) {
	r := &release{version: "v9.8.7", source: "../.."}
	if err := r.compile(runtime.GOOS + "/" + runtime.GOARCH); err != nil {
		return nil, err
	}
	return r.programs[0].data, nil
})

// stub stands for the program of platforms that a test does not build. It prints its
// arguments.
var stub = []byte("#!/bin/sh\necho \"[$*]\"\n")

// stubRelease returns a release of stubs for all platforms, in a folder of its own.
func stubRelease(t *testing.T, version string) *release {
	t.Helper()
	platforms := strings.Split(targets, ",")
	if host := runtime.GOOS + "/" + runtime.GOARCH; runtime.GOOS == "windows" || !slices.Contains(platforms, host) {
		t.Skip("the stub does not run on " + host)
	}
	r := &release{version: version, source: "../..", out: t.TempDir(), time: time.Unix(1700000000, 0).UTC()}
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		r.programs = append(r.programs, program{goos, goarch, stub})
	}
	return r
}

// TestPackages: a release has the packages of all formats and their checksums, and is the
// same when it is made again. Stubs have no modules that an SBOM could list.
func TestPackages(t *testing.T) {
	first, second := stubRelease(t, "v9.8.7-rc.1"), stubRelease(t, "v9.8.7-rc.1")
	for _, r := range []*release{first, second} {
		for _, f := range formats {
			if f.name == "SBOMs" {
				continue
			}
			if err := f.write(r); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
		}
		if err := r.sum(); err != nil {
			t.Fatal(err)
		}
	}
	names := list(t, first.out)
	want := strings.Fields(string(read(t, "testdata/files.txt")))
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.WriteFile("testdata/files.txt", []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		want = names
	}
	if !slices.Equal(names, want) {
		t.Errorf("the files are\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	sums := string(read(t, filepath.Join(first.out, "checksums.txt")))
	for _, name := range names {
		data := read(t, filepath.Join(first.out, name))
		if !bytes.Equal(data, read(t, filepath.Join(second.out, name))) {
			t.Errorf("%s is another one when it is made again", name)
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name)
		if strings.Contains(sums, line) == (strings.Contains(name, "/") || name == "checksums.txt") {
			t.Errorf("the checksums have %q where they should not, or lack it:\n%s", line, sums)
		}
	}
}

// TestZip: the program in an archive may be run where that is a property of files.
func TestZip(t *testing.T) {
	files := []file{{"toolpost.exe", 0o755, []byte("MZ")}, {"LICENSE", 0o644, []byte("Apache")}}
	data, err := zipFiles(files, time.Unix(1700000000, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.File) != 2 || r.File[0].Name != "toolpost.exe" || r.File[0].Mode() != 0o755 {
		t.Errorf("the archive has %d files, first %s with mode %v", len(r.File), r.File[0].Name, r.File[0].Mode())
	}
}

func TestReleaseRefuses(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "old.zip"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"not like v1.2.3":     run("1.2", t.TempDir(), nil),
		"or alpha, beta":      run("v1.2.3-test", t.TempDir(), nil),
		"is not empty":        run("v1.2.3", full, nil),
		"has no architecture": run("v1.2.3", t.TempDir(), []string{"linux"}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// TestActionsArePinned: workflows run no action of a name that can be moved.
func TestActionsArePinned(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../../.github/workflows", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		n++
		for line := range strings.Lines(string(read(t, path))) {
			_, action, ok := strings.Cut(line, "uses: ")
			_, ref, _ := strings.Cut(action, "@")
			hash, _, _ := strings.Cut(strings.TrimSpace(ref), " ")
			if ok && len(hash) != 40 {
				t.Errorf("%s: %s is not pinned by a full hash", path, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || n < 2 {
		t.Errorf("%d workflows: %v", n, err)
	}
}

// list returns the names of the files below a folder, with slashes.
func list(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// untar returns the files of a compressed tar archive.
func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if all[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
