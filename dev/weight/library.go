package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/toolpost/toolpost"

// A libraryUse is a program of somebody who uses a part of the library, and what it may
// cost: MB of the program without symbols, and MB of download with Toolpost itself. The
// table of docs/library.md has the same rows.
type libraryUse struct {
	uses, program    string
	binary, download float64
}

func libraryUses() []libraryUse {
	return []libraryUse{
		{"the root package", module + "/dev/weight/programs/tools", 6, 17},
		{"`agent` and `model/anthropic`", module + "/dev/weight/programs/model", 11, 17},
		{"`claude`", module + "/examples/claude", 10, 17},
		{"`gateway` and `mcpserver`", module + "/dev/weight/programs/gateway", 14, 21},
		{"`serve`", module + "/examples/gateway", 20, 30},
	}
}

// A download is what a build of a program downloads.
type download struct {
	modules int     // with Toolpost itself
	sums    int     // lines of go.sum: one for the zip and one for the go.mod of each
	size    float64 // MB of the zips
}

// measureDownload returns what a user of the library downloads, whose program is one of
// this module.
func measureDownload(program string, own float64) (*download, error) {
	all, err := linkedModules(program)
	if err != nil {
		return nil, err
	}
	d := &download{modules: len(all) + 1, sums: 2 * (len(all) + 1), size: own}
	for _, m := range all {
		d.size += m.size
	}
	return d, nil
}

// weighLibrary prints what each use costs, and returns those above their limits.
func weighLibrary(w io.Writer, root, folder string) (over []string, err error) {
	own, err := moduleSize(root)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "\nwhat users of the library link and download, with %.1f MB of Toolpost itself\n", own)
	for _, use := range libraryUses() {
		d, err := measureDownload(use.program, own)
		if err != nil {
			return nil, err
		}
		binary := filepath.Join(folder, "use")
		if err := goCommand(io.Discard, "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, use.program); err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "%-30s %5.1f MB, at most %g; %2d modules, %5.1f MB, at most %g; %d lines of go.sum\n",
			strings.ReplaceAll(use.uses, "`", ""), size(binary), use.binary, d.modules, d.size, use.download, d.sums)
		if size(binary) > use.binary*sizeTolerance || d.size > use.download*sizeTolerance {
			over = append(over, use.uses)
		}
	}
	return over, nil
}

// moduleSize returns the MB of the zip of the module at root: what git has, without the
// modules below it.
func moduleSize(root string) (float64, error) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	found, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("list the files of the module: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(found), "\x00"), "\x00")
	var below []string // folders of modules
	for _, file := range files {
		if folder, ok := strings.CutSuffix(file, "/go.mod"); ok {
			below = append(below, folder+"/")
		}
	}
	var written counter
	z := zip.NewWriter(&written)
	for _, file := range files {
		if slices.ContainsFunc(below, func(folder string) bool { return strings.HasPrefix(file, folder) }) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) { // it is deleted, and not committed yet
			continue
		}
		if err != nil {
			return 0, err
		}
		f, err := z.Create(file)
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			return 0, err
		}
	}
	err = z.Close()
	return float64(written) / 1e6, err
}

// A counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
