package checks

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/schema/dialect"
)

const sourceHelp = `
FILE is a JSON array of tools, the result of tools/list, or the whole answer of
a server; - is standard input.
` + connect.TargetHelp

// readSource reads the tools that the arguments name.
func readSource(cmd *cobra.Command, t *connect.Target, args []string) (*lint.Source, error) {
	cfg, rest, err := t.Split(args, cmd.ArgsLenAtDash())
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 1:
		return nil, cli.Usagef("%q and %q: give one file or address", rest[0], rest[1])
	case len(rest) > 0 && cfg != nil:
		return nil, cli.Usagef("give a file, an address or a command after --, only one of them")
	case len(rest) > 0:
		return fileSource(cmd, t, rest[0])
	}
	return serverSource(cmd, t, cfg)
}

// fileSource reads a file of tools. Of a configuration that is named, it has
// the dialects.
func fileSource(cmd *cobra.Command, t *connect.Target, path string) (*lint.Source, error) {
	var cfg *config.Config
	if t.Config != "" {
		found, err := cli.FindConfiguration(cmd.Context(), t.Config, cli.NewPrompter(cmd))
		if err != nil {
			return nil, err
		}
		cfg = found
	}
	book, err := bookOf(cfg)
	if err != nil {
		return nil, err
	}
	f, err := cli.Interruptible(cmd.Context(), func() (*lint.File, error) { return readToolFile(path, cmd.InOrStdin()) })
	if err != nil {
		return nil, err
	}
	return &lint.Source{Title: f.Path, File: f, Tools: f.Tools, Book: book}, nil
}

// serverSource lists the tools of servers.
func serverSource(cmd *cobra.Command, t *connect.Target, cfg *config.Config) (*lint.Source, error) {
	title, open := "", func() (*connect.Session, error) { return t.Open(cmd, cfg) }
	if cfg == nil {
		found, err := cli.FindConfiguration(cmd.Context(), t.Config, cli.NewPrompter(cmd))
		if err != nil {
			return nil, err
		}
		title, open = "the current folder", func() (*connect.Session, error) { return t.OpenFound(cmd, found) }
		if found != nil {
			cfg, title = found, found.File
		}
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	return listSource(cmd.Context(), s, title, cfg)
}

func bookOf(cfg *config.Config) (*dialect.Book, error) {
	if cfg != nil && cfg.Dialects != nil {
		return cfg.Dialects, nil
	}
	return dialect.NewBook(nil)
}

// findTargets returns the dialects of those ids.
func findTargets(book *dialect.Book, ids []string) ([]*dialect.Dialect, error) {
	var all []*dialect.Dialect
	for _, id := range ids {
		d, err := book.Find(id)
		if err != nil {
			return nil, noTarget(book, id)
		}
		all = append(all, d)
	}
	return all, nil
}

// noTarget returns the error for an unknown target; it suggests a similar one.
func noTarget(book *dialect.Book, id string) error {
	ids := book.IDs()
	if near := suggest.Names(id, ids, 3); id != "" && len(near) > 0 {
		return cli.Usagef("there is no target %q; did you mean %s?", id, strings.Join(near, " or "))
	}
	return cli.Usagef("there is no target %q; there are %s", id, strings.Join(ids, ", "))
}

// findTarget returns the one dialect that is asked for.
func findTarget(book *dialect.Book, ids []string) (*dialect.Dialect, error) {
	if len(ids) != 1 || ids[0] == "all" {
		return nil, cli.WrapUsage(errors.New("name one target with --for"))
	}
	all, err := findTargets(book, ids)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// completeTargets completes --for by the ids of the built-in dialects, which are
// read when the shell asks, and by other values.
func completeTargets(cmd *cobra.Command, others ...string) {
	cli.CompleteFlag(cmd, "for", func() []string { return append(cli.Dialects(), others...) })
}

// readToolFile reads the file at path, - is stdin.
func readToolFile(path string, stdin io.Reader) (*lint.File, error) {
	var data []byte
	var err error
	if path == "-" {
		path = "standard input"
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, cli.Usagef("read tools: %w", err)
	}
	f, err := lint.ParseFile(path, data)
	if err != nil {
		return nil, cli.WrapUsage(err)
	}
	return f, nil
}

// listSource returns the tools of an open target, to check.
func listSource(ctx context.Context, s *connect.Session, title string, cfg *config.Config) (*lint.Source, error) {
	book, err := bookOf(cfg)
	if err != nil {
		return nil, err
	}
	tools, err := s.Set.Tools(ctx)
	if err != nil {
		return nil, err
	}
	src := &lint.Source{Title: titleOf(s, title), Book: book}
	for _, t := range tools {
		src.Tools = append(src.Tools, lint.NewTool(t))
	}
	for _, st := range s.Status {
		src.AddSkipped(st.Skipped)
	}
	return src, nil
}

// titleOf names what is listed: a configuration, or the one server that was named.
func titleOf(s *connect.Session, configuration string) string {
	switch {
	case configuration != "":
		return configuration
	case len(s.Status) > 0 && s.Status[0].Server != "":
		return s.Status[0].Server
	}
	return "the server"
}
