package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// moduleSize returns the MB of the zip of the module at root, without the modules below it,
// hidden folders, in which tests keep what they install, and the archives of a release.
func moduleSize(root string) (float64, error) {
	var written counter
	z := zip.NewWriter(&written)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != root && (err == nil || d.Name()[0] == '.' || d.Name() == "dist") {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := z.Create(filepath.ToSlash(path))
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	})
	if err != nil {
		return 0, err
	}
	return float64(written) / 1e6, z.Close()
}

// A counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
