package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRelease builds the release of this platform twice: the files are the same,
// the checksums are right, and the program prints its version.
func TestRelease(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the archive is another one there; TestZip looks at it")
	}
	if os.Getenv("TOOLPOST_LIVE") == "" {
		t.Skip("make live builds the release, which compiles every dependency again")
	}
	t.Chdir("../..")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	host := runtime.GOOS + "/" + runtime.GOARCH
	outs := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for _, out := range outs {
		if err := run("v9.8.7", out, []string{host}); err != nil {
			t.Fatal(err)
		}
	}
	names := list(t, outs[0])
	base := fmt.Sprintf("toolpost_9.8.7_%s_%s", runtime.GOOS, runtime.GOARCH)
	want := []string{"checksums.txt", base + ".cdx.json", base + ".tar.gz"}
	if !slices.Equal(names, want) {
		t.Fatalf("the files are %q, want %q", names, want)
	}
	sums := string(read(t, filepath.Join(outs[0], "checksums.txt")))
	for _, name := range names {
		data := read(t, filepath.Join(outs[0], name))
		if string(data) != string(read(t, filepath.Join(outs[1], name))) {
			t.Errorf("%s is another one when it is built again", name)
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name); name != "checksums.txt" && !strings.Contains(sums, line) {
			t.Errorf("the checksums lack %q:\n%s", line, sums)
		}
	}
	program := filepath.Join(t.TempDir(), "toolpost")
	contents := untar(t, filepath.Join(outs[0], base+".tar.gz"))
	if err := os.WriteFile(program, contents["toolpost"], 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "toolpost v9.8.7 ") {
		t.Errorf("toolpost version: %s, %v", out, err)
	}
	if len(contents["LICENSE"]) == 0 || len(contents["README.md"]) == 0 {
		t.Error("the archive lacks the licence or the README")
	}
	checkBill(t, read(t, filepath.Join(outs[0], base+".cdx.json")))
}

// TestZip: an archive for Windows is the same each time, and its program may be run.
func TestZip(t *testing.T) {
	files := []file{{"toolpost.exe", "main.go", 0o755}, {"LICENSE", "../../LICENSE", 0o644}}
	var archives [2]bytes.Buffer
	for i := range archives {
		if err := writeZip(&archives[i], files, time.Unix(1700000000, 0).UTC()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
		t.Error("the archive is another one when it is made again")
	}
	r, err := zip.NewReader(bytes.NewReader(archives[0].Bytes()), int64(archives[0].Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.File) != 2 || r.File[0].Name != "toolpost.exe" || r.File[0].Mode() != 0o755 {
		t.Errorf("the archive has %d files, first %s with mode %v", len(r.File), r.File[0].Name, r.File[0].Mode())
	}
}

func checkBill(t *testing.T, data []byte) {
	t.Helper()
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if d.Metadata.Component.PURL != "pkg:golang/github.com/toolpost/toolpost@v9.8.7" || d.Metadata.Timestamp != "2023-11-14T22:13:20Z" {
		t.Errorf("the SBOM is of %+v", d.Metadata)
	}
	seen := map[string]bool{}
	for _, c := range d.Components {
		if seen[c.Ref] || c.Version == "" || c.Name != "std" && (len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64) {
			t.Errorf("the component %+v is there twice or not complete", c)
		}
		seen[c.Ref] = true
	}
	for _, name := range []string{"std", "github.com/spf13/cobra", "github.com/go-json-experiment/json"} {
		if !slices.ContainsFunc(d.Components, func(c component) bool { return c.Name == name }) {
			t.Errorf("the SBOM lacks %s", name)
		}
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
		"is not empty":        run("v1.2.3", full, nil),
		"has no architecture": run("v1.2.3", t.TempDir(), []string{"linux"}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// TestContainerFile: the image has the program alone, built as releases are, and
// does not run as root.
func TestContainerFile(t *testing.T) {
	text := string(read(t, "../../Dockerfile"))
	stages := strings.Split(text, "\nFROM ")
	last := stages[len(stages)-1]
	for _, want := range []string{"scratch\n", "USER 65532:65532", `ENTRYPOINT ["/toolpost"]`, "ca-certificates.crt"} {
		if !strings.Contains(last, want) {
			t.Errorf("the image lacks %q:\n%s", want, last)
		}
	}
	if !strings.Contains(text, "-trimpath") || !strings.Contains(text, "CGO_ENABLED=0") || !strings.Contains(text, "-X github.com/toolpost/toolpost/cmd/toolpost/internal/cli.released=") {
		t.Errorf("the program is not built as releases are:\n%s", text)
	}
	goVersion := ""
	for line := range strings.Lines(string(read(t, "../../go.mod"))) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			goVersion = strings.TrimSuffix(strings.TrimSpace(v), ".0")
		}
	}
	if !strings.Contains(text, "golang:"+goVersion) {
		t.Errorf("the container file does not use Go %s of go.mod", goVersion)
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

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
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

func untar(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
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
