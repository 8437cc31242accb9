package claude

import (
	"log/slog"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/message"
)

// Options configure a run or a session; nil means defaults. They are only read:
// one value may serve many sessions at once.
//
// What is long or secret is told to the CLI on its input, not on its command
// line, which other users of the machine can read: prompts, schemas, servers
// with their headers, settings. MCPServers and Settings as JSON need a CLI of
// 2.1.261 or later for that.
type Options struct {
	// The process.
	CLI        string            // the executable; found as [cli.Find] does if empty
	Dir        string            // the working directory; this process's if empty
	Env        []string          // "NAME=value" sets, "NAME" removes
	Args       []string          // further flags, as "--flag=value"
	Initialize map[string]any    // further fields of the initialize request, for features of the CLI that have no option here
	Stderr     func(line string) // gets each line of its error output
	Logger     *slog.Logger      // slog.Default() if nil
	Grace      time.Duration     // given to an interrupt, and between the steps of closing; 5 s if 0

	// The model.
	Model             string   // an alias such as "sonnet", or a full name; the CLI's default if empty
	FallbackModel     string   // tried when Model is overloaded; several are separated by commas
	Thinking          Thinking // the model's default if empty
	MaxThinkingTokens int      // a fixed budget of thinking, for older models; none if 0
	Effort            Effort   // the model's default if empty
	Betas             []string // beta features of the API

	// The prompt. With nothing set the model gets none but its tools, as in the
	// official SDKs.
	SystemPrompt       string // the whole system prompt
	ClaudeCodePrompt   bool   // Claude Code's own system prompt in place of SystemPrompt
	AppendSystemPrompt string // added to the end of either

	// ExpandPrompts lets the CLI expand prompts as it does in a terminal: it adds
	// the files that they mention as @path, and runs commands such as /compact.
	// Leave it out for prompts that others write: they could read any file.
	ExpandPrompts bool

	// Tools. A tool that is neither allowed nor harmless is asked for by
	// Permission.
	Toolset         toolpost.Toolset          // served as the server "tools", with its tools allowed
	Servers         []*Server                 // further toolsets in this process
	MCPServers      map[string]*MCPServer     // MCP servers that the CLI starts or connects to, by name
	StrictMCPConfig bool                      // no MCP servers but those above: none of the user's, the project's or a plugin's
	Tools           []string                  // the built-in tools; nil for all of Claude Code, empty for none
	AllowedTools    []string                  // run without being asked for: "Read", "Bash(git log:*)", "mcp__server"
	DisallowedTools []string                  // never run
	Restrict        map[string]map[string]any // the only value that a parameter may have, by tool and parameter
	ToolTimeout     time.Duration             // of each call of an MCP tool; the CLI's if 0
	Agents          map[string]*Subagent      // sub-agents, by name
	Skills          []string                  // by name, "all" for all; nil for the CLI's choice, empty for none
	PluginDirs      []string                  // plugins to load
	AddDirs         []string                  // directories beside Dir that tools may use

	// What is asked and told.
	Permission     Permission     // asked before a tool that is not allowed runs; nil denies
	PermissionMode PermissionMode // what runs without being asked for; that of the settings if empty
	AllowBypass    bool           // lets the session change to ModeBypass later
	Hooks          []Hook
	Output         *Output // the structure of the answer; nil for text

	// The conversation. At most one of Continue and Resume.
	Continue      bool   // goes on with the latest one in Dir
	Resume        string // goes on with the session of this id
	ResumeAt      string // with Resume: only up to the message of this UUID
	Fork          bool   // with Resume or Continue: under a new id, the old one stays as it is
	SessionID     string // the id of a new session, a UUID; chosen by the CLI if empty
	Title         string // of the session, for lists of them
	NoPersistence bool   // keeps nothing on disk, so that it cannot be resumed
	Checkpoints   bool   // keeps old versions of files, for Control.RewindFiles

	// Settings.
	Settings       string          // a file, or a JSON object
	SettingSources []SettingSource // nil for all, empty for none

	// Limits.
	MaxTurns     int     // calls of the model in one turn; no limit if 0. With Output, the model needs some to correct itself
	MaxBudgetUSD float64 // what the session may cost; no limit if 0
	TaskBudget   int     // tokens that the model is told to make do with; none if 0
	MaxRetries   int     // of a request that failed; the CLI's 10 if 0, none if below

	// The stream.
	PartialMessages    bool // also what the model has written so far
	HookEvents         bool // also when hooks start and end
	ReplayUserMessages bool // also the prompts, when they are taken
	SubagentText       bool // also what sub-agents write and think

	// Failures.
	MaxLine       int           // bytes of the longest line that is read; 64 MiB if 0
	SkipMalformed bool          // log malformed messages instead of ending with a *message.ParseError
	AllowDropped  bool          // log tools that the CLI dropped instead of ending with a *ToolsDroppedError
	IdleTimeout   time.Duration // how long Run waits after a result for silent sub-agents and shells; 10 min if 0
}

// A PermissionMode says what may run without being asked for.
type PermissionMode string

// The permission modes.
const (
	ModeDefault     PermissionMode = "default"           // what only reads
	ModeAcceptEdits PermissionMode = "acceptEdits"       // also changes of files
	ModePlan        PermissionMode = "plan"              // nothing that changes anything
	ModeDontAsk     PermissionMode = "dontAsk"           // what is allowed; the rest is denied and not asked for
	ModeAuto        PermissionMode = "auto"              // what a model takes for safe
	ModeBypass      PermissionMode = "bypassPermissions" // everything; for sandboxes only
)

// Thinking says whether the model thinks before it answers.
type Thinking string

// The ways of thinking.
const (
	ThinkingAdaptive Thinking = "adaptive" // as much as it takes
	ThinkingDisabled Thinking = "disabled"
)

// Effort is how much a model puts into an answer.
type Effort string

// The efforts that are known; models differ in which they take.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortXHigh  Effort = "xhigh"
	EffortMax    Effort = "max"
)

// A SettingSource is a place of settings, instructions and skills.
type SettingSource string

// The sources of settings.
const (
	UserSettings    SettingSource = "user"
	ProjectSettings SettingSource = "project" // of Dir, with its CLAUDE.md
	LocalSettings   SettingSource = "local"   // of Dir, not shared
)

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.Default()
}

func (o *Options) parser() *message.Parser { return &message.Parser{Logger: o.logger()} }

func (o *Options) grace() time.Duration {
	if o.Grace > 0 {
		return o.Grace
	}
	return 5 * time.Second
}

func (o *Options) idleTimeout() time.Duration {
	if o.IdleTimeout > 0 {
		return o.IdleTimeout
	}
	return 10 * time.Minute
}
