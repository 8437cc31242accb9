// Command release builds the archives of a release: for each platform one with
// the program, its licence and the README, an SBOM, and the checksums of all. The
// same commit and the same version of Go give the same bytes.
//
//	go run ./dev/release -version v1.2.3 -out dist
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const targets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// A release is what is built from one commit.
type release struct {
	version string    // such as v1.2.3
	source  string    // the folder of the module
	out     string    // the folder of the archives
	time    time.Time // of the commit; every file in an archive has it
}

func main() {
	version := flag.String("version", "", "the version; the tag of the commit if empty")
	out := flag.String("out", "dist", "the folder that the files are written to; it must not exist or be empty")
	platforms := flag.String("targets", targets, "the platforms, as OS/ARCH,…")
	flag.Parse()
	if err := run(*version, *out, strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, out string, platforms []string) error {
	r := &release{version: version, source: ".", out: out}
	if err := r.prepare(); err != nil {
		return err
	}
	for _, platform := range platforms {
		goos, goarch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("the target %q has no architecture; write OS/ARCH, such as linux/amd64", platform)
		}
		if err := r.build(goos, goarch); err != nil {
			return fmt.Errorf("build for %s: %w", platform, err)
		}
	}
	return r.sum()
}

var versionPattern = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// prepare finds out what the release is of.
func (r *release) prepare() error {
	if r.version == "" {
		tag, err := r.git("describe", "--tags", "--exact-match")
		if err != nil {
			return fmt.Errorf("the commit has no tag; set one or pass -version: %w", err)
		}
		r.version = tag
	}
	if !versionPattern.MatchString(r.version) {
		return fmt.Errorf("the version %q is not like v1.2.3", r.version)
	}
	var err error
	if r.time, err = r.commitTime(); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the folder %q is not empty; remove it, so that no file of another release is in it", r.out)
	}
	return os.MkdirAll(r.out, 0o755)
}

// commitTime returns SOURCE_DATE_EPOCH if it is set, else the time of the commit.
func (r *release) commitTime() (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		var err error
		if seconds, err = r.git("log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("read the time of the commit; run in a git checkout or set SOURCE_DATE_EPOCH: %w", err)
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time %q as seconds since 1970: %w", seconds, err)
	}
	return time.Unix(n, 0).UTC(), nil
}

func (r *release) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.source
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// build makes the archive and the SBOM of one platform.
func (r *release) build(goos, goarch string) error {
	work, err := os.MkdirTemp("", "toolpost-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	program := "toolpost"
	if goos == "windows" {
		program += ".exe"
	}
	binary := filepath.Join(work, program)
	if err := r.compile(goos, goarch, binary); err != nil {
		return err
	}
	files := []file{
		{program, binary, 0o755},
		{"LICENSE", filepath.Join(r.source, "LICENSE"), 0o644},
		{"README.md", filepath.Join(r.source, "README.md"), 0o644},
	}
	name := filepath.Join(r.out, fmt.Sprintf("toolpost_%s_%s_%s", strings.TrimPrefix(r.version, "v"), goos, goarch))
	if goos == "windows" {
		err = writeFile(name+".zip", func(w io.Writer) error { return writeZip(w, files, r.time) })
	} else {
		err = writeFile(name+".tar.gz", func(w io.Writer) error { return writeTar(w, files, r.time) })
	}
	if err != nil {
		return err
	}
	bill, err := billOfMaterials(binary, r.version, r.time)
	if err != nil {
		return fmt.Errorf("write the SBOM: %w", err)
	}
	return os.WriteFile(name+".cdx.json", bill, 0o644)
}

func (r *release) compile(goos, goarch, binary string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/toolpost/toolpost/cmd/toolpost/internal/cli.released="+r.version, "-o", binary, "./cmd/toolpost")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// sum writes the checksums, in the format of sha256sum.
func (r *release) sum() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), e.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) }) // by name
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(strings.Join(lines, "")), 0o644)
}
