//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWheels: the record of a wheel has all its files, the tags of its name are those
// inside, and the program is a script.
func TestWheels(t *testing.T) {
	r := stubRelease(t, "v9.8.7-rc.1")
	if err := writeWheels(r); err != nil {
		t.Fatal(err)
	}
	names := list(t, filepath.Join(r.out, "pypi"))
	if len(names) != len(wheelPlatforms) {
		t.Fatalf("the wheels are %q", names)
	}
	for _, name := range names {
		data := read(t, filepath.Join(r.out, "pypi", name))
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		contents := map[string]string{}
		record := ""
		for _, f := range z.File {
			contents[f.Name] = unzip(t, f)
			sum := sha256.Sum256([]byte(contents[f.Name]))
			if path := "toolpost-9.8.7rc1.dist-info/RECORD"; f.Name == path {
				record += path + ",,\n"
			} else {
				record += fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), f.UncompressedSize64)
			}
		}
		if got := contents["toolpost-9.8.7rc1.dist-info/RECORD"]; got != record {
			t.Errorf("%s: the record is\n%s\nwant\n%s", name, got, record)
		}
		program := "toolpost-9.8.7rc1.data/scripts/toolpost"
		if strings.Contains(name, "-win_") {
			program += ".exe"
		}
		if len(contents[program]) == 0 {
			t.Errorf("%s has no %s", name, program)
		}
		for _, platform := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, "toolpost-9.8.7rc1-py3-none-"), ".whl"), ".") {
			if !strings.Contains(contents["toolpost-9.8.7rc1.dist-info/WHEEL"], "\nTag: py3-none-"+platform+"\n") {
				t.Errorf("%s lacks the tag of %s", name, platform)
			}
		}
		for _, want := range []string{"Name: toolpost\nVersion: 9.8.7rc1\n", "\n\n# Toolpost\n", "<!-- mcp-name: io.github.toolpost/toolpost -->"} {
			if !strings.Contains(contents["toolpost-9.8.7rc1.dist-info/METADATA"], want) {
				t.Errorf("%s: the metadata lacks %q", name, want)
			}
		}
	}
}

// TestUVX installs and runs the packages of an index on loopback, with uvx, uv and pip.
func TestUVX(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(os.Getenv("TOOLPOST_LIVE"), "pypi-uv-*/bin"))
	if err != nil || len(found) == 0 && os.Getenv("TOOLPOST_LIVE") != "" {
		t.Skip("uv is not installed")
	}
	r := liveRelease(t, writeWheels)
	python := need(t, "python3")
	index := pythonIndex(t, filepath.Join(r.out, "pypi"))
	m := newMachine(t, "UV_DEFAULT_INDEX="+index, "UV_PYTHON="+python, "UV_PYTHON_DOWNLOADS=never", "PATH="+found[0]+":"+os.Getenv("PATH"), "PIP_INDEX_URL="+index, "PIP_DISABLE_PIP_VERSION_CHECK=1")
	before := m.files()
	uvx, uv := filepath.Join(found[0], "uvx"), filepath.Join(found[0], "uv")
	m.tryOut(uvx, "toolpost")

	m.run(uv, "tool", "install", "toolpost")
	if out := m.run(m.path(".local/bin/toolpost"), "version"); !strings.HasPrefix(out, "toolpost v9.8.7 ") {
		t.Errorf("the version is %q", out)
	}
	m.run(uv, "tool", "uninstall", "toolpost")
	m.run(uv, "cache", "clean")
	m.unchanged(before, ".local/share/uv", ".cache/uv", ".config/uv")

	m.run(python, "-m", "venv", "venv")
	m.run(m.path("venv/bin/python"), "-m", "pip", "install", "toolpost")
	if out := m.run(m.path("venv/bin/toolpost"), "version"); !strings.HasPrefix(out, "toolpost v9.8.7 ") {
		t.Errorf("the version is %q", out)
	}
}

// pythonIndex serves the wheels of a folder as an index of packages (PEP 503), at an
// address on loopback.
func pythonIndex(t *testing.T, dir string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET /files/", http.StripPrefix("/files/", http.FileServer(http.Dir(dir))))
	mux.HandleFunc("GET /simple/toolpost/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for _, name := range list(t, dir) {
			fmt.Fprintf(w, "<a href=\"/files/%s#sha256=%x\">%s</a>\n", name, sha256.Sum256(read(t, filepath.Join(dir, name))), name)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/simple/"
}

func unzip(t *testing.T, f *zip.File) string {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
