package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/schema/dialect"
)

// defaultServer is the name of a server that has no other.
const defaultServer = "tools"

// A Server is a toolset that this process serves to the CLI. Several sessions
// may use it concurrently.
type Server struct {
	name string
	ask  bool
	live *toolpost.Live
	mcp  *mcpserver.Server

	closed atomic.Bool
}

// ServerOptions are the optional parts of NewServer.
type ServerOptions struct {
	Ask         bool               // its tools are not allowed from the start: Options.Permission decides
	Tools       []string           // those that are served, by their own names: all if nil, none if empty
	Deferred    bool               // the model receives only the names of the tools, and must search for those it needs
	SkipRefused bool               // log and leave out tools that the CLI would not accept, instead of returning a *ToolsRefusedError
	Features    *toolpost.Features // instructions, prompts and resources besides the tools
	Dialect     *dialect.Dialect   // what the CLI accepts; "claude-code" if nil
	Logger      *slog.Logger       // slog.Default() if nil
}

// NewServer adapts a toolset for the CLI, where its tools are named
// mcp__NAME__TOOL; NAME is "tools" if name is empty. If ts lacks some of
// ServerOptions.Tools, the error is a *ToolNotFoundError; if the CLI would not
// accept some of the tools, it is a *ToolsRefusedError.
func NewServer(ctx context.Context, name string, ts toolpost.Toolset, opts *ServerOptions) (*Server, error) {
	if opts == nil {
		opts = &ServerOptions{}
	}
	name = cmp.Or(name, defaultServer)
	if err := checkServer(name); err != nil {
		return nil, fmt.Errorf("serve tools to the claude CLI: %w", err)
	}
	log := cmp.Or(opts.Logger, slog.Default())
	refused, first := &ToolsRefusedError{Server: name}, true
	adapted, err := adapt(name, pick(sound(ts), opts.Tools), opts.Dialect, func(withheld []dialect.Withheld) {
		for _, w := range withheld {
			if first && !opts.SkipRefused {
				refused.Tools = append(refused.Tools, w)
				continue
			}
			log.Warn("a tool is not served to the claude CLI, which would not accept it", "server", name, "tool", w.Name, "rule", w.Rule, "why", w.Why)
		}
	})
	if err != nil {
		return nil, err
	}
	live, err := toolpost.NewLive(ctx, toolpost.Join(toolpost.Map(adapted, presenter(opts.Deferred)), opts.Features))
	if err != nil {
		return nil, fmt.Errorf("serve tools to the claude CLI as %q: %w", name, err)
	}
	if len(refused.Tools) > 0 {
		return nil, refused
	}
	first = false
	s := &Server{name: name, ask: opts.Ask, live: live}
	s.mcp, err = mcpserver.New(ctx, live, &mcpserver.Options{Name: name, Logger: log})
	return s, err
}

// checkServer refuses names with which the CLI would mistake tools for those of
// another server, or have none of them.
func checkServer(name string) error {
	switch {
	case fold(name) != name:
		return fmt.Errorf("it would rename the server %q; use only letters, digits, _ and -", name)
	case strings.Contains(name+"_", "__"):
		return fmt.Errorf("the server's name %q contains __ or ends with _, and the CLI puts __ between the names of a server and a tool; use another name", name)
	case name == "ide":
		return errors.New("the CLI drops the tools of a server named ide, because it has a server of that name; use another name")
	}
	return nil
}

// adapt returns ts as the CLI takes it. Each listing tells what it withholds.
func adapt(server string, ts toolpost.Toolset, d *dialect.Dialect, tell func([]dialect.Withheld)) (toolpost.Toolset, error) {
	if d == nil {
		var err error
		if d, err = dialect.Find("claude-code"); err != nil {
			return nil, err
		}
	}
	report := func(a *dialect.Adapted) { tell(a.Withheld) }
	return d.Layer(ts, &dialect.Options{Server: server, Report: report}), nil
}

// Name returns the name under which the CLI knows the server.
func (s *Server) Name() string { return s.name }

// Refresh lists the toolset again and notifies all sessions if it has changed.
// Tools that the CLI would not accept are logged and left out.
func (s *Server) Refresh(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.live.Refresh(ctx); err != nil {
		return fmt.Errorf("list the tools of server %q again: %w", s.name, err)
	}
	return nil
}

// Close ends the server in all sessions and cancels the calls in progress.
func (s *Server) Close() error {
	s.closed.Store(true)
	s.live.Close()
	return s.mcp.Close()
}

// usable is why the server cannot be served; nil if it can.
func (s *Server) usable() error {
	switch {
	case s == nil || s.mcp == nil:
		return errors.New("a Server is nil or empty; create it with NewServer")
	case s.closed.Load():
		return fmt.Errorf("the server %q is closed; create another with NewServer", s.name)
	}
	return nil
}

// pick keeps the tools of ts that have one of the names; nil keeps all. Ts must
// have all of them when it is listed first. Later it may have lost some, and the
// others go on.
func pick(ts toolpost.Toolset, names []string) toolpost.Toolset {
	if names == nil {
		return ts
	}
	var listed atomic.Bool
	return toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		tools, err := ts.Tools(ctx)
		if err != nil {
			return nil, err
		}
		missing, available := slices.Clone(names), []string{}
		picked := []*toolpost.Tool{}
		for _, t := range tools {
			available = append(available, t.Name)
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == t.Name })
			if slices.Contains(names, t.Name) {
				picked = append(picked, t)
			}
		}
		if len(missing) > 0 && !listed.Load() {
			return nil, &ToolNotFoundError{Missing: missing, Available: available}
		}
		listed.Store(true)
		return picked, nil
	})
}

// A ToolNotFoundError reports that a toolset lacks some of ServerOptions.Tools.
type ToolNotFoundError struct {
	Missing, Available []string
}

func (e *ToolNotFoundError) Error() string {
	return fmt.Sprintf("the toolset has no tools %q; it has %q", e.Missing, e.Available)
}

// sound refuses lists that no dialect makes good.
func sound(ts toolpost.Toolset) toolpost.Toolset {
	return toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		if ts == nil {
			return nil, errors.New("there is no toolset; give one")
		}
		tools, err := callGuarded(func() ([]*toolpost.Tool, error) { return ts.Tools(ctx) })
		if err != nil {
			return nil, err
		}
		seen := map[string]*toolpost.Tool{}
		for i, t := range tools {
			if t == nil {
				return nil, &toolpost.ToolValidationError{Field: "value", Err: fmt.Errorf("tool %d of %d is nil; leave it out", i+1, len(tools))}
			}
			if first := seen[t.Name]; first != nil {
				return nil, &toolpost.ToolValidationError{Tool: t.Name, Field: "name",
					Err: fmt.Errorf("two tools have it: %.60q and %.60q; give one another name with Rename or Prefix", first.Description, t.Description)}
			}
			if t.Handler == nil {
				return nil, &toolpost.ToolValidationError{Tool: t.Name, Field: "function", Err: errors.New("it has no handler; give it one")}
			}
			seen[t.Name] = t
		}
		return tools, nil
	})
}

// ToolName returns the CLI's name for a tool of a server: mcp__SERVER__TOOL,
// with _ for every character that is not a letter, a digit, _ or -.
func ToolName(server, tool string) string { return "mcp__" + fold(server) + "__" + fold(tool) }

// fold writes a name as the CLI does, which counts characters in UTF-16.
func fold(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '_', r == '-', '0' <= r && r <= '9', 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z':
			b.WriteRune(r)
		case r > 0xFFFF:
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}
