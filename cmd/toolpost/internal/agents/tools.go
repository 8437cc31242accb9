package agents

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/folder"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
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
	folder *folder.Folder // nil without standard tools

	closers []func() error
}

// noTools is the value of --tools that leaves the standard tools out.
const noTools = "none"

// standardTools are the tools of the current folder that an agent has.
func standardTools() []string {
	return []string{folder.WorkspaceWrite, folder.Bash, folder.Todos, folder.Done}
}

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
		w.closers = append(w.closers, servers.Close)
		tools = append(tools, servers.Set)
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
func (f *agentFlags) openServers(cmd *cobra.Command, cfg *config.Config) (*connect.Session, error) {
	if cfg == nil {
		found, err := cli.FindConfiguration(cmd.Context(), f.target.Config, cli.NewPrompter(cmd))
		switch {
		case err != nil:
			return nil, err
		case found == nil && f.target.Profile != "":
			return nil, cli.Usagef("--profile needs a configuration, and there is none; see \"toolpost help serve\"")
		case found == nil:
			return nil, nil
		}
		return f.checkReached(cmd)(f.target.OpenServers(cmd, found, owner.Pins(found)))
	}
	return f.checkReached(cmd)(f.target.OpenServers(cmd, cfg, nil))
}

// checkReached reports the servers that cannot be reached. It is an error if none can.
func (f *agentFlags) checkReached(cmd *cobra.Command) func(*connect.Session, error) (*connect.Session, error) {
	return func(s *connect.Session, err error) (*connect.Session, error) {
		if err != nil {
			return nil, err
		}
		if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
}

// openStandard opens the standard tools, nil if there shall be none. A tool of a
// server takes the place of one with the same name.
func (w *workbench) openStandard(ctx context.Context, o *folder.Options, servers *connect.Session) (toolpost.Toolset, error) {
	if o.Has(noTools) {
		return nil, nil
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	var err error
	if w.folder, err = folder.Open(ctx, w.cache, o); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, w.folder.Close)
	standard := toolpost.Filter(w.folder.Live.Set(), func(t *toolpost.Tool) bool { return servers == nil || servers.Set.Lookup(t.Name) == nil })
	tools, err := standard.Tools(ctx)
	for _, t := range tools {
		w.ours[t.Name] = true
		if t.Name == "write_todos" {
			w.free = append(w.free, t.Name)
		}
	}
	return standard, err
}

// files returns the files and folders of the current folder whose paths begin with a text.
func (w *workbench) files(beginning string) []string {
	if w.folder == nil || w.folder.Root == nil {
		return nil
	}
	return stdtool.NewWorkspace(w.folder.Root).Complete(beginning)
}

// readFile reads a file of the current folder.
func (w *workbench) readFile(path string) ([]byte, error) {
	if w.folder == nil || w.folder.Root == nil {
		return nil, errors.New("there is no folder")
	}
	return stdtool.NewWorkspace(w.folder.Root).ReadExisting(path)
}

func (w *workbench) close() error {
	var errs []error
	for i := range w.closers {
		errs = append(errs, w.closers[len(w.closers)-1-i]())
	}
	return errors.Join(errs...)
}
