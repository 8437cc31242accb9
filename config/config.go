// Package config reads and checks toolpost.json, the configuration of package gateway.
//
//	toolpost.json ── Load, Parse ─► Config ─► gateway.Start, serve.Open
//	                     │             └─ Problems: what is wrong, with its place
//	                     └─ Error: the file cannot be used
//
// A short file, of which docs/configuration.md has all keys:
//
//	{
//	  "mcpServers": {
//	    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]},
//	    "search": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
//	  },
//	  "profiles": {"reader": {"servers": ["search"]}},
//	  "approvals": [{"action": "ask", "servers": ["files"], "tools": ["write_*"]}]
//	}
//
// A mistake in one server disables that server only: its Err has the reason. [Watch] loads
// the file again when it changes. A program can also make a [Config] itself; every zero field is a default.
package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

// A Config is the content of toolpost.json.
type Config struct {
	Servers       []Server           // in the order of the file
	Output        Output             // which part of a tool's output is shown
	Search        Search             // for which clients tools are searched instead of listed
	Quiet         []string           // globs of tools that are polled: see Polled of [toolpost.Policy]
	QuietOptional bool               // it is not reported if a glob of Quiet matches no tool
	Name          string             // the name of this server for clients; "" for the default
	Dialect       string             // for clients whose address names no dialect; "" chooses one for each client, "none" adapts nothing
	Dialects      *dialect.Book      // the known dialects; nil for the built-in ones
	Findings      []toolpost.Finding // settings of the file that have no effect here
	Profiles      []Profile          // in the order of the file
	Limits        Limits             // how many requests servers get
	Approvals     []ApprovalList     // which calls run, need the user's approval, or are denied
	Audit         *audit.Options     // which calls are recorded; nil for none. Its Secrets and Logger are not set
	Access        *Access            // the authorization server that callers log in at; nil for none. Its Resource may be empty
	Lock          bool               // keep the pinned tools in a file beside the configuration, to be committed

	// File is the path of the file that Load has read, and URLs the value that FromURLs has
	// read. Both are "" for other configurations.
	File, URLs string

	// Digest identifies the content of the file and of the files of variables that it names,
	// as Load has read them. It is "" for other configurations.
	Digest string

	source          *source                 // nil if it was not read from a file
	fromEnvironment []string                // the values of variables that are probably secret
	environments    map[string]*environment // the files of variables that were read, by server
}

// A Server is one upstream of a Config.
type Server struct {
	upstream.Config

	Auth *Auth // how to log in to a server over HTTP; nil if the server says how, or needs no login

	// Source, if it is not nil, has the tools of the server run in the program that
	// serves: Config.Transport is the type, "redmine", and of Config only that and the name
	// are used.
	Source *Source

	Disabled bool
	Required bool // toolpost is ready only while this server is connected, see /readyz

	// Share says which clients share the process or connection. With "always", all of them
	// do; with "per-session", each session has its own; with "per-client", each client has
	// one for all of its sessions. With "auto", which is the default, all share one until
	// the server sends something that is for one client alone; from then on, each session
	// has its own.
	Share string

	Idle   time.Duration // after which a process or connection of a client or session ends without a call; if 0, 10 minutes with Share "auto", otherwise 30
	Prefix *string       // added before every tool's name; nil means Name + "__"

	// Allow and Deny are globs (* and ?) of the server's own tool names.
	// Without Allow, all tools are served; Deny takes precedence.
	Allow, Deny []string

	Tools ToolChanges // by the server's own tool names

	// Extensions are globs of the capabilities beside MCP's own whose methods
	// reach the server, such as io.modelcontextprotocol/skills. Nil means all,
	// and that a server that is alone gets unknown methods too; an empty list
	// means none.
	Extensions []string

	// Outputs override Config.Output for tools of this server; the first match is used.
	Outputs []OutputLimit

	Unpinned    bool // it may change the definitions of its tools
	WithholdNew bool // a tool that it adds later waits for an approval

	// Err is the reason why the server cannot be started: a *[Error] if
	// its entry is invalid, or a variable that is not set. The server is listed
	// as failed; the others are served.
	Err error

	// EnvFile is the path of a file of variables, which [Load] and ReadFiles add to Env; those
	// of Env take precedence.
	EnvFile string `json:"-"`
}

// An Output limits how much of a tool's output clients are shown. Longer output
// is stored, and the tools tool_output_cache and tool_output_cache_grep read
// it.
type Output struct {
	Off                  bool // outputs are passed on in full
	Lines, Chars, Errors int  // the limits; see Options of package output; 0 for its defaults
}

// An OutputLimit limits how much clients are shown of the outputs of some tools of one
// server.
type OutputLimit struct {
	Tools string // a glob of the server's own tool names
	Chars int    // in characters; 0 for the limits of Config.Output, -1 passes outputs on in full
}

// An Error reports all mistakes of one configuration file.
type Error struct {
	File     string
	Problems []Problem // in the order of the file
}

// A Problem is one mistake in a configuration file, or something in it that has no
// effect.
type Problem struct {
	Line, Column int // from 1; columns count characters
	Message      string
	Server       string // the server that cannot be started because of it; "" for others
	Key          string // the path of a key that is unknown or has no effect, such as mcpServers.files.sandbox; "" for other problems
	Warning      bool   // everything that is enabled starts nevertheless
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s", e.File, p.Line, p.Column, p.Message)
	}
	return strings.Join(lines, "\n")
}

// maxConfig is the longest configuration file that is read.
const maxConfig = 4 << 20

// Read returns the content of the configuration file at path. It refuses what is not a
// file, such as a pipe, and what is too large for a configuration.
func Read(path string) ([]byte, error) {
	data, err := atomicfile.Read(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf(`read configuration: %w; run "toolpost import", or create the file with {"mcpServers": {}}`, err)
	case err != nil:
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return data, nil
}

// Load reads the file at path, as [Read] does. It takes variables from the environment.
func Load(path string) (*Config, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	cfg, err := Parse(path, data, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	cfg.ReadFiles()
	return cfg, nil
}

// ReadFiles makes of what [Parse] has read, with an environment, what [Load] returns. It adds
// the variables of the files that servers name, starts commands without a folder in that of the
// configuration, and sets File and Digest.
func (c *Config) ReadFiles() {
	if c.source == nil {
		return
	}
	c.startInFolderOf(c.source.name)
	digest := sha256.New()
	hashField(digest, c.source.data)
	c.environments = map[string]*environment{}
	for i := range c.Servers {
		s := &c.Servers[i]
		c.environments[s.Name] = s.addEnvFile()
		c.environments[s.Name].hash(digest)
	}
	c.File, c.Digest = c.source.name, hex.EncodeToString(digest.Sum(nil))
}

// startInFolderOf makes the folder of the file the default of cwd. In the
// current folder, which may be a cloned one, a package runner such as npx would
// run what it finds there, for servers of the user's own configuration too.
func (c *Config) startInFolderOf(path string) {
	file, err := filepath.Abs(path)
	if err != nil {
		return // the current folder is gone: nothing can start in it
	}
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Command != "" && s.Dir == "" {
			s.Dir = filepath.Dir(file)
		}
	}
}

// Parse reads toolpost.json: JSON with comments and trailing commas. Name
// is the path of the file, which is used in errors and for ${workspaceFolder};
// env looks up variables. If it is nil, values have their variables as they are
// written, and what depends on them is not checked. No other file is read; see ReadFiles.
//
// An invalid entry, or an entry with an unset variable, disables only its
// server: the server's Err is set. For other mistakes the error is a
// *[Error] with all mistakes of the file.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	s := newSource(name, data)
	cfg := &Config{}
	if !isJSON(name) {
		s.fail(0, "the name of the file suggests that it is not JSON; to import servers from the file of another MCP client, run \"toolpost import %s\"", name)
	} else if root := s.root(); root != nil {
		f := &file{source: s, cfg: cfg}
		if env != nil {
			f.vars = newVariables(name, env)
		}
		f.read(root)
		if f.vars != nil {
			cfg.fromEnvironment = f.vars.secrets
		}
	}
	if len(s.problems) == 0 {
		cfg.source = s
		for _, note := range s.notes {
			cfg.Findings = append(cfg.Findings, toolpost.Finding{Message: (&Error{name, []Problem{note}}).Error()})
		}
		return cfg, nil
	}
	for _, server := range cfg.Servers {
		if invalid := (*Error)(nil); errors.As(server.Err, &invalid) {
			s.problems = append(s.problems, invalid.Problems...)
		}
	}
	sortProblems(s.problems)
	return nil, &Error{File: name, Problems: s.problems}
}

func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, comparePlaces)
}

func comparePlaces(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }
