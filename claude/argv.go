package claude

import (
	"strconv"
	"strings"
)

// command is how the CLI is started.
func (o *Options) command(ts *tools) *Command {
	args := append(flags(o, ts.allowRules()), o.Args...)
	return &Command{
		Path: o.CLI, Args: args, Env: environment(o), Dir: o.Dir,
		Grace: o.grace(), MaxLine: o.MaxLine, Stderr: o.Stderr, Logger: o.logger(),
	}
}

// An argv collects flags. All are written --flag=value: as a word of its own, a
// value that begins with a dash would be a flag.
type argv []string

func (a *argv) on(flag string, set bool) {
	if set {
		*a = append(*a, "--"+flag)
	}
}

func (a *argv) text(flag, value string) {
	if value != "" {
		*a = append(*a, "--"+flag+"="+value)
	}
}

func (a *argv) number(flag string, n int) {
	if n > 0 {
		a.text(flag, strconv.Itoa(n))
	}
}

// each writes one flag per value: some values contain commas, and all of them
// together may be longer than an argument can be.
func (a *argv) each(flag string, values []string) {
	for _, v := range values {
		a.text(flag, v)
	}
}

// list writes one flag, unless values is nil.
func (a *argv) list(flag string, values []string) {
	if values != nil {
		*a = append(*a, "--"+flag+"="+strings.Join(values, ","))
	}
}

func flags(o *Options, allowed []string) []string {
	a := argv{"--output-format=stream-json", "--input-format=stream-json", "--verbose"}
	a.text("model", o.Model)
	a.text("fallback-model", o.FallbackModel)
	a.text("thinking", o.Thinking)
	a.number("max-thinking-tokens", o.MaxThinkingTokens)
	a.text("effort", o.Effort)
	a.text("betas", strings.Join(o.Betas, ","))
	a.tools(o, allowed)
	a.session(o)
	a.number("max-turns", o.MaxTurns)
	if o.MaxBudgetUSD > 0 {
		a.text("max-budget-usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	a.number("task-budget", o.TaskBudget)
	a.on("include-partial-messages", o.PartialMessages)
	a.on("include-hook-events", o.HookEvents)
	a.on("replay-user-messages", o.ReplayUserMessages)
	return a
}

func (a *argv) tools(o *Options, allowed []string) {
	a.list("tools", o.Tools)
	a.each("allowedTools", allowed)
	a.each("allowedTools", o.AllowedTools)
	a.each("allowedTools", skillRules(o.Skills))
	a.each("disallowedTools", o.DisallowedTools)
	a.on("strict-mcp-config", o.StrictMCPConfig)
	if o.Permission != nil {
		a.text("permission-prompt-tool", "stdio")
	}
	a.text("permission-mode", string(o.PermissionMode))
	a.on("allow-dangerously-skip-permissions", o.AllowBypass || o.PermissionMode == ModeBypass)
	a.each("plugin-dir", o.PluginDirs)
	a.each("add-dir", o.AddDirs)
}

func (a *argv) session(o *Options) {
	a.on("continue", o.Continue)
	a.text("resume", o.Resume)
	a.text("resume-session-at", o.ResumeAt)
	a.on("fork-session", o.Fork)
	a.text("session-id", o.SessionID)
	a.text("agent", o.Agent)
	a.on("no-session-persistence", o.NoPersistence)
	a.on("session-mirror", o.SessionStore != nil)
	var fields []string
	if inline(o.Settings) || o.Sandbox != nil {
		fields = append(fields, "settings")
	} else {
		a.text("settings", o.Settings)
	}
	var sources []string
	if o.SettingSources != nil {
		sources = []string{}
	}
	for _, s := range o.SettingSources {
		sources = append(sources, string(s))
	}
	a.list("setting-sources", sources)
	a.on("await-initialize", len(fields) > 0 || len(o.MCPServers) > 0 || len(o.ManagedSettings) > 0)
	a.on("managed-settings-in-initialize", len(o.ManagedSettings) > 0)
	a.text("initialize-fields", strings.Join(fields, ","))
}

// inline reports whether settings are given themselves, not as a file.
func inline(settings string) bool { return strings.HasPrefix(strings.TrimSpace(settings), "{") }

// skillRules allow the use of skills.
func skillRules(names []string) []string {
	var rules []string
	for _, name := range names {
		if name == "all" {
			return []string{"Skill"}
		}
		rules = append(rules, "Skill("+name+")")
	}
	return rules
}

// environment is what the CLI gets on top of this process's environment. What
// the user sets is last, and so wins.
func environment(o *Options) []string {
	env := []string{
		"CLAUDE_CODE_ENTRYPOINT=sdk-go",
		"CLAUDE_CODE_SDK_READS_SESSION_STATE=1", // so that it tells when it is idle
	}
	if o.Checkpoints {
		env = append(env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true")
	}
	if o.MaxRetries != 0 {
		env = append(env, "CLAUDE_CODE_MAX_RETRIES="+strconv.Itoa(max(o.MaxRetries, 0)))
	}
	if o.ToolTimeout > 0 {
		env = append(env, "MCP_TOOL_TIMEOUT="+strconv.FormatInt(milliseconds(o.ToolTimeout), 10))
	}
	return append(env, o.Env...)
}
