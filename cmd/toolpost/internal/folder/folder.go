// Package folder opens the standard tools that a command line selects, over a folder.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/access/owner"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/stdtool"
)

// The values of --tools.
const (
	workspace      = "workspace"       // tools that read the files of a folder
	WorkspaceWrite = "workspace-write" // and those that change them
	Bash           = "bash"
	fetchTool      = "fetch"
	Todos          = "todos"
	Done           = "done"
)

// fileTools are the tools of workspace-write, which may also be chosen one by one.
const fileTools = "read, list, glob, grep, write, edit, multi_edit, move"

// Choices lists the values of --tools.
const Choices = "workspace, workspace-write, bash, fetch, todos, done or single file tools (" + fileTools + ")"

func isFileTool(name string) bool { return slices.Contains(strings.Split(fileTools, ", "), name) }

// Options select the tools that are served without a configuration.
type Options struct {
	Tools     []string // as of --tools; to read if there are none
	Root      string   // the current folder if empty
	PassEnv   []string
	addresses []netip.Prefix // that fetch may reach although they are private

	// Watch, if set, returns what takes the output of a command while it runs, beside
	// what keeps it. Ctx is that of the call.
	Watch func(ctx context.Context) io.Writer
}

// AddFlags adds the flags of serve.
func (o *Options) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.Tools, "tools", nil, "serve the tools `NAMES` over a folder instead of a configuration: "+Choices)
	f.StringVar(&o.Root, "root", "", "serve the tools of `DIR` instead of a configuration (default: the current folder)")
	f.StringArrayVar(&o.PassEnv, "pass-env", nil, "pass the variable `NAME` to commands of bash too; a * at the end stands for any ending; may be repeated")
	f.Func("allow-address", "let fetch reach the private `ADDRESS` or block, such as 10.0.0.0/8; may be repeated", o.allow)
	cli.CompleteFlag(cmd, "tools", func() []string {
		return append([]string{workspace, WorkspaceWrite, Bash, fetchTool, Todos, Done}, strings.Split(fileTools, ", ")...)
	})
	for _, name := range []string{"tools", "root"} {
		cli.Exclusive(cmd, name, "config")
	}
}

// Chosen reports whether a folder is to be served, whatever configuration there is.
func (o *Options) Chosen() bool { return len(o.Tools) > 0 || o.Root != "" }

// Has reports whether a value of --tools was given.
func (o *Options) Has(name string) bool { return slices.Contains(o.Tools, name) }

// needsFolder reports whether the tools work on files.
func (o *Options) needsFolder() bool { return o.needsFiles() || o.Has(Bash) }

// needsFiles reports whether any file tool is served.
func (o *Options) needsFiles() bool {
	return len(o.Tools) == 0 || o.Has(workspace) || o.Has(WorkspaceWrite) || slices.ContainsFunc(o.Tools, isFileTool)
}

// offers reports whether a file tool is served.
func (o *Options) offers(t *toolpost.Tool) bool {
	readOnly := t.Annotations.ReadOnly
	return o.Has(WorkspaceWrite) || o.Has(t.Name) ||
		(len(o.Tools) == 0 || o.Has(workspace)) && readOnly != nil && *readOnly
}

// Check returns an error if the options cannot be served.
func (o *Options) Check() error {
	for _, name := range o.Tools {
		switch name {
		case workspace, WorkspaceWrite, Bash, fetchTool, Todos, Done:
			continue
		}
		if !isFileTool(name) {
			return cli.Usagef("--tools is %q; want %s", name, Choices)
		}
	}
	switch {
	case o.Root != "" && !o.needsFolder():
		return cli.Usagef("--root needs a tool that works in a folder; add one to --tools, or leave --root out")
	case len(o.PassEnv) > 0 && !o.Has(Bash):
		return cli.Usagef("--pass-env needs --tools bash; add bash, or leave --pass-env out")
	case len(o.addresses) > 0 && !o.Has(fetchTool):
		return cli.Usagef("--allow-address needs --tools fetch; add fetch, or leave --allow-address out")
	}
	return nil
}

func (o *Options) allow(address string) error {
	p, err := netip.ParsePrefix(address)
	if ip, e := netip.ParseAddr(address); e == nil {
		p, err = ip.Prefix(ip.BitLen())
	}
	if err != nil {
		return errors.New("want an address such as 10.0.0.7, or a block such as 10.0.0.0/8")
	}
	o.addresses = append(o.addresses, p)
	return nil
}

// A Folder is what is served without any configuration, or by --tools: tools
// over the files in it.
type Folder struct {
	path  string         // "" if no tool needs it
	Root  *os.Root       // nil then
	cache *outputs.Cache // nil if outputs are shown whole
	shell *stdtool.Shell // nil unless it was asked for
	Live  *toolpost.Live
}

// Open opens the folder and tools that o selects, or read-only tools over
// the current folder if o is nil. The cache may be nil.
func Open(ctx context.Context, cache *outputs.Cache, o *Options) (*Folder, error) {
	if o == nil {
		o = &Options{}
	}
	f := &Folder{cache: cache}
	if o.needsFolder() {
		if err := f.open(o.Root); err != nil {
			return nil, err
		}
	}
	tools, err := f.tools(o)
	if err == nil {
		f.Live, err = toolpost.NewLive(ctx, tools)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Folder) open(dir string) (err error) {
	name := "the current folder"
	if dir != "" {
		name = fmt.Sprintf("%q", dir)
	}
	if f.path, err = filepath.Abs(dir); err == nil && filepath.Dir(f.path) == f.path {
		return cli.Usagef("%s is the whole file system, which is not served; start toolpost in another folder, "+
			"name one with --root, or name a configuration with --config (there is no %s)", name, owner.ConfigName)
	}
	if err == nil {
		f.Root, err = os.OpenRoot(f.path)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	return nil
}

// tools returns exactly the tools that were asked for.
func (f *Folder) tools(o *Options) (toolpost.Toolset, error) {
	var all []toolpost.Toolset
	if o.needsFiles() {
		all = append(all, toolpost.Filter(stdtool.NewWorkspace(f.Root), o.offers))
	}
	if o.Has(Bash) {
		if err := cli.KeepPrivate(); err != nil {
			return nil, err
		}
		f.shell = stdtool.NewShell(f.path, f.shellOptions(o))
		all = append(all, f.shell)
	}
	if o.Has(fetchTool) {
		all = append(all, toolpost.Tools{stdtool.Fetch(&stdtool.FetchOptions{Allow: o.addresses})})
	}
	if o.Has(Todos) {
		all = append(all, stdtool.Todos(nil))
	}
	if o.Has(Done) {
		all = append(all, toolpost.Tools{stdtool.Done()})
	}
	if f.cache == nil {
		return toolpost.Join(all...), nil
	}
	return f.cache.Layer(toolpost.Join(all...)), nil
}

// shellOptions have the output of commands recorded while they run.
func (f *Folder) shellOptions(o *Options) *stdtool.ShellOptions {
	opts := &stdtool.ShellOptions{Pass: o.PassEnv}
	if f.cache == nil {
		return opts
	}
	opts.Record = func(ctx context.Context) stdtool.Recorder { return f.cache.Record(ctx) }
	if o.Watch != nil {
		opts.Record = func(ctx context.Context) stdtool.Recorder {
			return &watchedRecorder{f.cache.Record(ctx), o.Watch(ctx)}
		}
	}
	return opts
}

// A watchedRecorder gives output to somebody who watches, too.
type watchedRecorder struct {
	stdtool.Recorder
	watcher io.Writer
}

// Write implements [stdtool.Recorder].
func (r *watchedRecorder) Write(p []byte) (int, error) {
	_, _ = r.watcher.Write(p) // it is kept all the same
	return r.Recorder.Write(p)
}

// EndSession ends the commands that an ended session has left running.
func (f *Folder) EndSession(session string) {
	if f.shell != nil {
		f.shell.EndSession(session)
	}
}

// Close ends the commands that run in the folder.
func (f *Folder) Close() error {
	var errs []error
	if f.shell != nil {
		errs = append(errs, f.shell.Close())
	}
	if f.Root != nil {
		errs = append(errs, f.Root.Close())
	}
	return errors.Join(errs...)
}

// Risk describes what callers could do beyond reading the folder, "" if
// nothing. Chosen are the names of --tools.
func (f *Folder) Risk(chosen []string) string {
	if slices.Contains(chosen, Bash) {
		return "run any command as you"
	}
	tools, _ := f.Live.Set().Tools(context.Background()) // a Set never fails
	for _, t := range tools {
		if r := t.Annotations.ReadOnly; r == nil || !*r {
			return "change what these tools change"
		}
	}
	if file, err := owner.TokenFile(); err == nil && f.path != "" {
		if rel, err := filepath.Rel(f.path, file); err == nil && filepath.IsLocal(rel) {
			return "read your token in the folder that is served"
		}
	}
	return ""
}

// Describe describes the tools and the folder that they work in.
func (f *Folder) Describe() string {
	var names []string
	note := " (read only)"
	tools, _ := f.Live.Set().Tools(context.Background())
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
	if f.path != "" {
		list += " over " + f.path
	}
	return "serving " + list + note
}
