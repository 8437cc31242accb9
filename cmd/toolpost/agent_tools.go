package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/owner"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/stdtool"
)

// A workbench is what an agent works with: the tools of servers and the standard
// tools of the current folder, behind a cache of large outputs.
type workbench struct {
	set    *toolpost.Set
	ours   map[string]bool // the standard tools
	free   []string        // those of them that change nothing outside of the session
	cache  *outputs.Cache
	folder *folder // nil without standard tools

	closers []func() error
}

// noTools is the value of --tools that leaves the standard tools out.
const noTools = "none"

// standardTools are the tools of the current folder that an agent has.
func standardTools() []string { return []string{workspaceWrite, bashTools, todoTools, doneTool} }

// openWorkbench opens the tools. Cfg is that of a server that the command line
// names; without one, the configuration is found as by other commands.
func (f *agentFlags) openWorkbench(cmd *cobra.Command, cfg *config.Config) (_ *workbench, err error) {
	w := &workbench{ours: map[string]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	kept, _ := owner.OutputStore(log)
	w.cache = outputs.New(kept, &outputs.Options{Logger: log})
	var tools []toolpost.Toolset
	servers, err := f.openServers(cmd, cfg)
	if err != nil {
		return nil, err
	}
	if servers != nil {
		w.closers = append(w.closers, servers.close)
		tools = append(tools, servers.set)
	}
	standard, err := w.openStandard(cmd.Context(), &f.folder, servers)
	if err != nil {
		return nil, err
	}
	if standard != nil {
		tools = append(tools, standard)
	}
	w.set, err = toolpost.NewSet(cmd.Context(), w.cache.Layer(toolpost.Join(tools...)))
	return w, err
}

// openServers connects to the servers, nil if there are none.
func (f *agentFlags) openServers(cmd *cobra.Command, cfg *config.Config) (*session, error) {
	if cfg == nil {
		found, err := cli.FindConfiguration(cmd.Context(), f.target.config, cli.NewPrompter(cmd))
		switch {
		case err != nil:
			return nil, err
		case found == nil && f.target.profile != "":
			return nil, cli.Usagef("--profile needs a configuration, and there is none; see \"toolpost help serve\"")
		case found == nil:
			return nil, nil
		}
		return f.reached(cmd)(f.target.openServers(cmd, found, owner.Pins(found)))
	}
	return f.reached(cmd)(f.target.openServers(cmd, cfg, nil))
}

// reached reports the servers that cannot be reached. It is an error if none can.
func (f *agentFlags) reached(cmd *cobra.Command) func(*session, error) (*session, error) {
	return func(s *session, err error) (*session, error) {
		if err != nil {
			return nil, err
		}
		if err := s.complain(cmd.ErrOrStderr()); err != nil {
			return nil, errors.Join(err, s.close())
		}
		return s, nil
	}
}

// openStandard opens the standard tools, nil if there shall be none. A tool of a
// server takes the place of one with the same name.
func (w *workbench) openStandard(ctx context.Context, o *folderOptions, servers *session) (toolpost.Toolset, error) {
	if o.asked(noTools) {
		return nil, nil
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	var err error
	if w.folder, err = openFolder(ctx, w.cache, o); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, w.folder.close)
	standard := toolpost.Filter(w.folder.live.Set(), func(t *toolpost.Tool) bool { return servers == nil || servers.set.Lookup(t.Name) == nil })
	tools, err := standard.Tools(ctx)
	for _, t := range tools {
		w.ours[t.Name] = true
		if t.Name == "write_todos" {
			w.free = append(w.free, t.Name)
		}
	}
	return standard, err
}

// readFile reads a file of the current folder.
func (w *workbench) readFile(path string) ([]byte, error) {
	if w.folder == nil || w.folder.root == nil {
		return nil, errors.New("there is no folder")
	}
	return stdtool.ReadExisting(w.folder.root, path)
}

func (w *workbench) close() error {
	var errs []error
	for i := range w.closers {
		errs = append(errs, w.closers[len(w.closers)-1-i]())
	}
	return errors.Join(errs...)
}
