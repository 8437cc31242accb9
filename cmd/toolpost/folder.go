package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/stdtool"
)

// What --tools chooses.
const (
	workspace      = "workspace"       // tools that read the files of the current folder
	workspaceWrite = "workspace-write" // and those that change them
	bashTools      = "bash"
	fetchTool      = "fetch"
	todoTools      = "todos"
)

const toolChoices = "workspace, workspace-write, bash, fetch or todos"

// A folder is what is served without any configuration, or by --tools: tools
// over the files in it.
type folder struct {
	path  string
	root  *os.Root
	cache *outputs.Cache // nil if outputs are shown whole
	shell *stdtool.Shell // nil unless it was asked for
	live  *toolpost.Live
}

// checkTools refuses what --tools does not know.
func checkTools(names []string) error {
	for _, name := range names {
		switch name {
		case workspace, workspaceWrite, bashTools, fetchTool, todoTools:
		default:
			return usagef("--tools is %q; want %s", name, toolChoices)
		}
	}
	return nil
}

// openFolder opens the current folder; tools are as of --tools, to read if there
// are none. The cache may be nil.
func openFolder(ctx context.Context, cache *outputs.Cache, tools ...string) (*folder, error) {
	path, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	if filepath.Dir(path) == path {
		return nil, usagef("the current folder is the whole file system, which is not served; "+
			"start toolpost in another folder, or name a configuration with --config (there is no %s)", configName)
	}
	f := &folder{path: path, cache: cache}
	if f.root, err = os.OpenRoot(path); err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	if f.live, err = toolpost.NewLive(ctx, f.tools(tools)); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// tools returns what was asked for, and no more.
func (f *folder) tools(names []string) toolpost.Toolset {
	asked := func(name string) bool { return slices.Contains(names, name) }
	var all []toolpost.Toolset
	switch {
	case asked(workspaceWrite):
		all = append(all, stdtool.Writing(f.root))
	case asked(workspace), len(names) == 0:
		all = append(all, stdtool.ReadOnly(f.root))
	}
	if asked(bashTools) {
		f.shell = stdtool.NewShell(f.path, f.shellOptions())
		all = append(all, f.shell)
	}
	if asked(fetchTool) {
		all = append(all, toolpost.Tools{stdtool.Fetch(nil)})
	}
	if asked(todoTools) {
		all = append(all, stdtool.Todos(nil))
	}
	if f.cache == nil {
		return toolpost.Join(all...)
	}
	return f.cache.Layer(toolpost.Join(all...))
}

// shellOptions have the output of commands recorded while they run.
func (f *folder) shellOptions() *stdtool.ShellOptions {
	if f.cache == nil {
		return nil
	}
	return &stdtool.ShellOptions{Record: func(ctx context.Context) stdtool.Recorder { return f.cache.Record(ctx) }}
}

// close ends what runs in the folder.
func (f *folder) close() error {
	var err error
	if f.shell != nil {
		err = f.shell.Close()
	}
	return errors.Join(err, f.root.Close())
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
	list := names[0]
	if last := len(names) - 1; last > 0 {
		list = strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return fmt.Sprintf("serving %s over %s%s", list, f.path, note)
}
