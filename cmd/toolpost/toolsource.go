package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// A toolSource is the tools that a command looks at, as they were written.
type toolSource struct {
	title string    // what they are of, for people
	file  *toolFile // nil if they are not of a file
	tools []*fileTool
	book  *dialect.Book
}

const sourceHelp = `
FILE is a JSON array of tools, the result of tools/list, or the whole answer of
a server; - is standard input.
` + targetHelp

// source reads the tools that the arguments name.
func (t *target) source(cmd *cobra.Command, args []string) (*toolSource, error) {
	cfg, rest, err := t.split(args, cmd.ArgsLenAtDash())
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 1:
		return nil, usagef("%q and %q: give one file or address", rest[0], rest[1])
	case len(rest) > 0 && cfg != nil:
		return nil, usagef("give a file, an address or a command after --, only one of them")
	case len(rest) > 0:
		return t.fileSource(cmd, rest[0])
	}
	return t.serverSource(cmd, cfg)
}

// fileSource reads a file of tools. Of a configuration that is named, it has
// the dialects.
func (t *target) fileSource(cmd *cobra.Command, path string) (*toolSource, error) {
	var cfg *gateway.Config
	if t.config != "" {
		found, err := findConfiguration(cmd.Context(), t.config, newPrompter(cmd))
		if err != nil {
			return nil, err
		}
		cfg = found.Config
	}
	book, err := bookOf(cfg)
	if err != nil {
		return nil, err
	}
	f, err := interruptible(cmd.Context(), func() (*toolFile, error) { return readToolFile(path, cmd.InOrStdin()) })
	if err != nil {
		return nil, err
	}
	return &toolSource{f.path, f, f.tools, book}, nil
}

// serverSource lists the tools of servers.
func (t *target) serverSource(cmd *cobra.Command, cfg *gateway.Config) (*toolSource, error) {
	title, open := "", func() (*session, error) { return t.open(cmd, cfg) }
	if cfg == nil {
		found, err := findConfiguration(cmd.Context(), t.config, newPrompter(cmd))
		if err != nil {
			return nil, err
		}
		title, open = "the current folder", func() (*session, error) { return t.openFound(cmd, found) }
		if found != nil {
			cfg, title = found.Config, found.file
		}
	}
	book, err := bookOf(cfg)
	if err != nil {
		return nil, err
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.complain(cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	tools, err := s.set.Tools(cmd.Context())
	if err != nil {
		return nil, err
	}
	src := &toolSource{title: s.title(title), book: book}
	for _, t := range tools {
		src.tools = append(src.tools, &fileTool{Tool: t, name: t.Name})
	}
	src.addSkipped(s.status)
	return src, nil
}

func bookOf(cfg *gateway.Config) (*dialect.Book, error) {
	if cfg != nil && cfg.Dialects != nil {
		return cfg.Dialects, nil
	}
	return dialect.NewBook(nil)
}

// title tells what is listed: a configuration, or the one server that was named.
func (s *session) title(configuration string) string {
	switch {
	case configuration != "":
		return configuration
	case len(s.status) > 0 && s.status[0].Server != "":
		return s.status[0].Server
	}
	return "the server"
}

// addSkipped adds what servers list in a shape that no client can use: it is
// known from what the upstream says of it.
func (s *toolSource) addSkipped(servers []upstream.Status) {
	for _, st := range servers {
		for _, f := range st.Skipped {
			switch {
			case f.Tool == "" && strings.Contains(f.Message, "no name"):
				t := &fileTool{}
				t.fault("name", "name", "", "%s", f.Message)
				s.tools = append(s.tools, t)
			case strings.Contains(f.Message, "inputSchema"):
				t := &fileTool{name: f.Tool}
				t.fault("poison-root-type", "inputSchema", "", "%s", f.Message)
				s.tools = append(s.tools, t)
			case strings.Contains(f.Message, "outputSchema"):
				s.named(f.Tool).fault("poison-output", "outputSchema", "outputSchema", "%s", f.Message)
			case strings.Contains(f.Message, "more than once"):
				s.named(f.Tool).fault("name-collision", "name", "name", "%s", f.Message)
			}
		}
	}
}

// named returns the tool that its server calls so; what is not among the
// tools is added.
func (s *toolSource) named(name string) *fileTool {
	for _, t := range s.tools {
		if t.name == name || strings.HasSuffix(t.name, "__"+name) {
			return t
		}
	}
	t := &fileTool{name: name}
	s.tools = append(s.tools, t)
	return t
}

// definitions returns the tools to lint.
func (s *toolSource) definitions() (all []*toolpost.Tool) {
	for _, t := range s.tools {
		if t.Tool != nil {
			all = append(all, t.Tool)
		}
	}
	return all
}

// targets returns the dialects of those ids.
func (s *toolSource) targets(ids []string) ([]*dialect.Dialect, error) {
	var all []*dialect.Dialect
	for _, id := range ids {
		d, err := s.book.Find(id)
		if err != nil {
			return nil, s.noTarget(id)
		}
		all = append(all, d)
	}
	return all, nil
}

// noTarget tells that there is no target of that id, and which was meant.
func (s *toolSource) noTarget(id string) error {
	var ids []string
	for _, d := range s.book.All() {
		ids = append(ids, d.ID)
	}
	if near := nearest(id, ids, 3); id != "" && len(near) > 0 {
		return usagef("there is no target %q; did you mean %s?", id, strings.Join(near, " or "))
	}
	return usagef("there is no target %q; there are %s", id, strings.Join(ids, ", "))
}

// target returns the one dialect that is asked for.
func (s *toolSource) target(ids []string) (*dialect.Dialect, error) {
	if len(ids) != 1 || ids[0] == "all" {
		return nil, usageError{errors.New("name one target with --for")}
	}
	all, err := s.targets(ids)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// targetChoices are the ids of built-in dialects, to complete.
func targetChoices() (choices []string) {
	for _, d := range dialect.All() {
		choices = append(choices, d.ID+"\t"+d.Title)
	}
	return choices
}
