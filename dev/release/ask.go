package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/dev/man"
)

// withProgram calls use with a function that runs the program and returns what it prints,
// which is the same for all platforms.
func (r *release) withProgram(use func(ask func(args ...string) (string, error)) error) error {
	this := runtime.GOOS + "/" + runtime.GOARCH
	i := slices.IndexFunc(r.programs, func(p program) bool { return p.goos+"/"+p.goarch == this })
	if i < 0 {
		return fmt.Errorf("run toolpost: the release needs a program for this machine; add %s to -targets", this)
	}
	folder, err := os.MkdirTemp("", "toolpost-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, r.programs[i].name())
	if err := os.WriteFile(binary, r.programs[i].data, 0o755); err != nil {
		return err
	}
	return use(func(args ...string) (string, error) {
		out, err := exec.Command(binary, args...).Output()
		if err != nil {
			return "", fmt.Errorf("run toolpost %s: %w", strings.Join(args, " "), err)
		}
		return string(out), nil
	})
}

// manual returns the manual pages, in a folder.
func (r *release) manual() (files []file, err error) {
	err = r.withProgram(func(ask func(...string) (string, error)) error {
		pages, err := man.Pages("toolpost", summary, r.time, ask)
		for _, p := range pages {
			files = append(files, file{"man/" + p.Name, 0o644, p.Text})
		}
		return err
	})
	return files, err
}
