package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What every package says about the program.
const (
	summary    = "One endpoint for the tools of many MCP servers"
	homepage   = "https://github.com/toolpost/toolpost"
	licence    = "Apache-2.0"
	maintainer = "Toolpost"
	image      = "ghcr.io/toolpost/toolpost"
)

// A release is what is built from one commit.
type release struct {
	version  string    // such as v1.2.3
	source   string    // the folder of the module
	out      string    // the folder that the packages are written to
	time     time.Time // of the commit; every file in a package has it
	programs []program
}

// A program is the program of one platform.
type program struct {
	goos, goarch string
	data         []byte
}

// name returns the name of the program's file.
func (p program) name() string {
	if p.goos == "windows" {
		return "toolpost.exe"
	}
	return "toolpost"
}

// number returns the version without the v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// A pre-release is one that every kind of package can express.
var versionPattern = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

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
		return fmt.Errorf("the version %q is not like v1.2.3 or v1.2.3-rc.1 (or alpha, beta)", r.version)
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

// compile builds the program of a platform, such as linux/amd64.
func (r *release) compile(platform string) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("the target %q has no architecture; write OS/ARCH, such as linux/amd64", platform)
	}
	work, err := os.MkdirTemp("", "toolpost-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary := filepath.Join(work, "toolpost")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/toolpost/toolpost/cmd/toolpost/internal/cli.released="+r.version, "-o", binary, "./cmd/toolpost")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	r.programs = append(r.programs, program{goos, goarch, data})
	return nil
}

// write writes the packages of all formats, and the signed checksums.
func (r *release) write() error {
	for _, f := range formats {
		if err := f.write(r); err != nil {
			return fmt.Errorf("write the %s: %w", f.name, err)
		}
	}
	if err := r.sum(); err != nil {
		return err
	}
	return r.sign()
}

// put writes a file below the folder of the release.
func (r *release) put(name string, data []byte) error {
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// download returns where users get a platform's archive, and its checksum.
func (r *release) download(p program) (url, digest string, err error) {
	name, _ := r.archive(p)
	digest, err = r.digest(name)
	return homepage + "/releases/download/" + r.version + "/" + name, digest, err
}

// texts returns the licence and the README, which every package has.
func (r *release) texts() ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, data})
	}
	return files, nil
}

// sum writes the checksums of the files that are not for a registry, which are those
// in no folder, in the format of sha256sum.
func (r *release) sum() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, fs.DirEntry.IsDir)
	var text strings.Builder
	for _, e := range entries { // sorted by name
		sum, err := r.digest(e.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, e.Name())
	}
	return r.put("checksums.txt", []byte(text.String()))
}

// digest returns the SHA-256 of a file of the release.
func (r *release) digest(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.out, name))
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}
