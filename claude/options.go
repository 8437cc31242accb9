package claude

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
	"github.com/toolpost/toolpost/schema"
)

// Options configure a run or a session; nil means defaults. They are only read,
// so several sessions may share one value.
//
// Long or secret values are sent on the CLI's input, not on its command line,
// which other users of the machine can read: prompts, schemas, servers with
// their headers, settings. For MCPServers and for Settings as JSON this
// requires version 2.1.261 of the CLI or later.
type Options struct {
	// The process.
	CLI        string            // the executable; found as [Command.Find] does if empty
	Dir        string            // the working directory of the CLI; that of this process if empty
	Env        []string          // "NAME=value" sets, "NAME" removes
	Args       []string          // further flags, as "--flag=value"
	Initialize map[string]any    // further fields of the initialize request, for features of the CLI that have no option here
	Stderr     func(line string) // receives each line of the CLI's error output
	Logger     *slog.Logger      // slog.Default() if nil
	Grace      time.Duration     // time allowed for an interrupt, and for each step of closing; 5 s if 0

	// Start starts the CLI in another way than as a process of this machine, such as
	// in a container; [Command.Start] if nil. It returns early when ctx ends.
	Start func(ctx context.Context, how *Command) (Transport, error)

	// The model.
	Model             string   // an alias such as "sonnet", or a full name; the CLI's default if empty
	FallbackModel     string   // tried when Model is overloaded; several are separated by commas
	Thinking          string   // adaptive (as much as necessary), disabled, or enabled (always, for older models); the model's default if empty
	MaxThinkingTokens int      // a fixed budget of thinking, for older models; none if 0
	Effort            string   // low, medium, high, xhigh or max, not all of which each model takes; the model's default if empty
	Betas             []string // beta features of the API

	// The prompt. By default the model receives only its tools, as in the
	// official SDKs.
	SystemPrompt       string // the whole system prompt
	ClaudeCodePrompt   bool   // Claude Code's own system prompt instead of SystemPrompt
	AppendSystemPrompt string // appended to either

	// ExpandPrompts lets the CLI expand prompts as it does in a terminal: it
	// adds the files that they mention as @path, and runs commands such as
	// /compact. Do not set it for prompts that others write: they could read
	// any file.
	ExpandPrompts bool

	// Tools. Permission decides about a tool that is neither allowed nor
	// harmless.
	Toolset         toolpost.Toolset          // served as the server "tools"; its tools are allowed
	Servers         []*Server                 // further toolsets in this process
	MCPServers      map[string]*MCPServer     // MCP servers that the CLI starts or connects to, by name
	StrictMCPConfig bool                      // only the MCP servers above: none of the user's, the project's or a plugin's
	Tools           []string                  // the built-in tools; nil for all of Claude Code, empty for none
	AllowedTools    []string                  // run without a permission request: "Read", "Bash(git log:*)", "mcp__server"
	DisallowedTools []string                  // never run
	Restrict        map[string]map[string]any // the only value that a parameter may have, by tool and parameter
	ToolTimeout     time.Duration             // for each call of an MCP tool; the CLI's if 0
	Agents          map[string]*Subagent      // sub-agents, by name
	Agent           string                    // the agent that the session itself is, by name; the CLI's own if empty
	Skills          []string                  // by name, "all" for all; nil for the CLI's choice, empty for none
	PluginDirs      []string                  // plugins to load
	AddDirs         []string                  // directories besides Dir that tools may use

	// Permission decides whether a tool may run that is not allowed; nil denies. A nil
	// Decision denies the call, and so does an error; the model sees its text. Ctx ends when
	// the CLI no longer waits for the decision, as after an interrupt. Permission may be
	// called again before an earlier call has returned.
	Permission func(ctx context.Context, request *PermissionRequest) (*Decision, error)

	// Permissions and output.
	PermissionMode PermissionMode // what runs without a permission request; that of the settings if empty
	AllowBypass    bool           // lets the session change to ModeBypass later
	Hooks          []Hook
	Sandbox        *Sandbox // isolates the commands of Bash; that of the settings if nil

	// Questions to the user. A nil answer declines.
	Elicitation func(ctx context.Context, question *Elicitation) (*ElicitationAnswer, error) // of an MCP server; nil declines all
	Dialog      func(ctx context.Context, question *Dialog) (result any, err error)          // of the CLI
	DialogKinds []string                                                                     // those that Dialog can show

	Output *schema.Schema // of the answer, which is then Response.StructuredOutput; nil for text. See [DoAs]

	// The conversation. At most one of Continue and Resume.
	Continue      bool   // continues the latest session in Dir, of the SessionStore if there is one
	Resume        string // continues the session with this id
	ResumeAt      string // with Resume: only up to the message with this UUID
	Fork          bool   // with Resume or Continue: under a new id; the old session does not change
	SessionID     string // the id of a new session, a UUID; the CLI chooses one if empty
	Title         string // of the session, for lists of sessions
	NoPersistence bool   // stores nothing on disk, so the session cannot be resumed
	Checkpoints   bool   // keeps old versions of files, for Control.RewindFiles

	// SessionStore gets a copy of the session as the CLI writes it, and of its
	// sub-agents. When a result is read, the store has what came before, unless that
	// takes it more than 10 s. Lines that it does not take after three attempts are
	// reported by a *message.System of the subtype mirror_error. Continue and Resume
	// first bring the CLI's own files up to date from the store, so that a session
	// goes on on another machine with the same Dir.
	SessionStore sessions.Store

	// Settings.
	Settings        string         // a file, or a JSON object
	SettingSources  []string       // user, project (of Dir, with its CLAUDE.md) or local (of Dir, not shared); nil for all, empty for none
	ManagedSettings map[string]any // limits that no other settings widen, such as permissions.deny; if the machine is managed, its settings decide whether they count

	// Limits.
	MaxTurns     int     // calls of the model in one turn; no limit if 0. With Output, the model needs some of them to correct itself
	MaxBudgetUSD float64 // limit for the cost of the session; no limit if 0
	TaskBudget   int     // tokens that the model is told to use at most; none if 0
	MaxRetries   int     // of a failed request; the CLI's default of 10 if 0, none if negative

	// The stream.
	PartialMessages    bool // also parts of answers while the model writes them
	HookEvents         bool // also the start and end of hooks
	ReplayUserMessages bool // also the prompts, when the CLI takes them
	SubagentText       bool // also the text and thinking of sub-agents

	// Failures.
	MaxLine       int           // bytes of the longest line that is read; 64 MiB if 0
	SkipMalformed bool          // log malformed messages instead of ending with a *message.ParseError
	AllowDropped  bool          // log tools that the CLI dropped instead of ending with a *ToolsDroppedError
	IdleTimeout   time.Duration // how long Run waits after a result for silent sub-agents and shells; 10 min if 0
}

// A PermissionMode determines what may run without a permission request.
type PermissionMode string

// The permission modes.
const (
	ModeDefault     PermissionMode = "default"           // tools that only read
	ModeAcceptEdits PermissionMode = "acceptEdits"       // also edits of files
	ModePlan        PermissionMode = "plan"              // nothing that makes changes
	ModeDontAsk     PermissionMode = "dontAsk"           // what is allowed; everything else is denied without a request
	ModeAuto        PermissionMode = "auto"              // what a model considers safe
	ModeBypass      PermissionMode = "bypassPermissions" // everything; for sandboxes only
)

func (o *Options) logger() *slog.Logger { return cmp.Or(o.Logger, slog.Default()) }

func (o *Options) parser() *message.Parser { return &message.Parser{Logger: o.logger()} }

func (o *Options) grace() time.Duration { return cmp.Or(o.Grace, 5*time.Second) }

func (o *Options) idleTimeout() time.Duration { return cmp.Or(o.IdleTimeout, 10*time.Minute) }
