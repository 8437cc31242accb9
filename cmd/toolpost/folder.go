package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
)

// What --tools chooses.
const (
	workspace      = "workspace"       // tools that read the files of the current folder
	workspaceWrite = "workspace-write" // and those that change them
)

// A folder is what is served without any configuration, or by --tools: tools
// over the files in it.
type folder struct {
	path string
	root *os.Root
	live *toolpost.Live
}

// openFolder opens the current folder; tools are as of --tools, to read if there
// are none.
func openFolder(ctx context.Context, tools ...string) (*folder, error) {
	for _, name := range tools {
		if name != workspace && name != workspaceWrite {
			return nil, usagef("--tools is %q; want %s or %s", name, workspace, workspaceWrite)
		}
	}
	path, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	if filepath.Dir(path) == path {
		return nil, usagef("the current folder is the whole file system, which is not served; "+
			"start toolpost in another folder, or name a configuration with --config (there is no %s)", configName)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	source := stdtool.ReadOnly(root)
	if slices.Contains(tools, workspaceWrite) {
		source = stdtool.Writing(root)
	}
	live, err := toolpost.NewLive(ctx, source)
	if err != nil {
		return nil, err
	}
	return &folder{path, root, live}, nil
}

// serves tells which tools there are, over what.
func (f *folder) serves() string {
	var names []string
	note := " (read only)"
	tools, _ := f.live.Set().Tools(context.Background())
	for _, t := range tools {
		names = append(names, t.Name)
		if r := t.Annotations.ReadOnly; r == nil || !*r {
			note = ""
		}
	}
	last := len(names) - 1
	return fmt.Sprintf("serving %s and %s over %s%s", strings.Join(names[:last], ", "), names[last], f.path, note)
}
