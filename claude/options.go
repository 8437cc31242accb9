package claude

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/cli"
	"github.com/toolpost/toolpost/claude/message"
)

// Options configure a run or a session; nil means defaults.
type Options struct {
	// The process.
	CLI    string            // the executable; found as [cli.Find] does if empty
	Dir    string            // the working directory; this process's if empty
	Env    []string          // "NAME=value" sets, "NAME" removes
	Args   []string          // further flags, as "--flag=value"
	Stderr func(line string) // gets each line of its error output
	Logger *slog.Logger      // slog.Default() if nil
	Grace  time.Duration     // given to an interrupt, and between the steps of closing; 5 s if 0

	// Tools.
	Toolset toolpost.Toolset // served as the server "tools", with its tools allowed
	Servers []*Server        // further toolsets in this process

	// What is asked and told.
	Permission Permission // asked before a tool that is not allowed runs; nil denies
	Hooks      []Hook
	Output     *Output // the structure of the answer; nil for text

	// Failures.
	SkipMalformed bool          // log malformed messages instead of ending with a *message.ParseError
	AllowDropped  bool          // log tools that the CLI dropped instead of ending with a *ToolsDroppedError
	IdleTimeout   time.Duration // how long Run waits for sub-agents after a result; 10 min if 0
}

// A PermissionMode says what may run without being asked for.
type PermissionMode string

func (o *Options) check() error { return nil }

// process is how the CLI is started.
func (o *Options) process(ts *tools) (*cli.Options, error) { return nil, nil }

// initialize is the body of the first control request.
func (o *Options) initialize(ts *tools) (map[string]any, error) { return nil, nil }

func (o *Options) logger() *slog.Logger { return o.Logger }

func (o *Options) parser() *message.Parser { return nil }

func (o *Options) grace() time.Duration { return o.Grace }

func (o *Options) idleTimeout() time.Duration { return o.IdleTimeout }

var _ json.RawMessage
