package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/suggest"
)

// check reports all that contradicts itself or cannot work, before anything is
// started.
func (o *Options) check() error {
	err := errors.Join(
		checkPrompt(o), checkSession(o), checkLimits(o), checkModes(o), checkAgents(o),
		checkArguments(o), checkHooks(o.Hooks, o.logger()), restrictions(o.Restrict).check(), checkServers(o),
	)
	if _, bad := o.initialize(&tools{}); bad != nil {
		err = errors.Join(err, bad)
	}
	if out := o.output(); out != nil {
		err = errors.Join(err, out.err)
	}
	if err != nil {
		return fmt.Errorf("check the options: %w", err)
	}
	return nil
}

func checkPrompt(o *Options) error {
	switch {
	case o.ClaudeCodePrompt && o.SystemPrompt != "":
		return errors.New("both ClaudeCodePrompt and SystemPrompt are set; put the text in AppendSystemPrompt")
	case o.Thinking == "disabled" && o.MaxThinkingTokens > 0:
		return errors.New("MaxThinkingTokens is set and Thinking is disabled; leave one of them out")
	case o.FallbackModel != "" && o.FallbackModel == o.Model:
		return fmt.Errorf("FallbackModel is the same as Model, %q; name another model", o.Model)
	}
	return errors.Join(
		checkWord(o.logger(), "Thinking", o.Thinking, "adaptive", "enabled", "disabled"),
		checkEffort(o.logger(), o.Effort),
	)
}

func checkEffort(log *slog.Logger, effort string) error {
	return checkWord(log, "Effort", effort, "low", "medium", "high", "xhigh", "max")
}

func checkMode(log *slog.Logger, mode PermissionMode) error {
	return checkWord(log, "PermissionMode", mode, ModeDefault, ModeAcceptEdits, ModePlan, ModeDontAsk, ModeAuto, ModeBypass)
}

func checkSource(log *slog.Logger, option, source string) error {
	return checkWord(log, option, source, "user", "project", "local")
}

// checkWord refuses what is almost a word that the CLI knows, and warns about another
// one: a newer CLI may know it.
func checkWord[T ~string](log *slog.Logger, option string, word T, known ...T) error {
	if word == "" || slices.Contains(known, word) {
		return nil
	}
	var words []string
	for _, k := range known {
		words = append(words, string(k))
	}
	if near := suggest.Misspelled(string(word), words); near != "" {
		return fmt.Errorf("the %s is %q, which the CLI does not know; did you mean %s?", option, word, near)
	}
	log.Warn("an option has a value that this package does not know; check the spelling, unless the CLI is newer", "option", option, "value", word)
	return nil
}

var uuidPattern = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func checkSession(o *Options) error {
	old := o.Continue || o.Resume != ""
	switch {
	case o.Continue && o.Resume != "":
		return errors.New("both Continue and Resume are set; leave out Continue to resume that session")
	case o.Fork && !old:
		return errors.New("there is no session to Fork; set Resume to its id, or Continue")
	case o.ResumeAt != "" && o.Resume == "":
		return errors.New("ResumeAt needs Resume, the id of the session that contains the message")
	case o.SessionStore != nil && o.NoPersistence:
		return errors.New("a SessionStore gets what the CLI writes to disk, and NoPersistence writes nothing; leave one of them out")
	case o.mirrorsItself():
		return errors.New("the SessionStore is the folder that the CLI itself writes; leave it out or give it another ConfigDir")
	case o.SessionID == "":
		return nil
	case old && !o.Fork:
		return errors.New("SessionID is for a new session; set Fork as well to give it to a copy of the old one")
	case !uuidPattern.MatchString(o.SessionID):
		return fmt.Errorf("SessionID %q is not a UUID; leave it out to have one generated", o.SessionID)
	}
	return nil
}

func checkLimits(o *Options) error {
	var errs []error
	negative := func(name string, below bool) {
		if below {
			errs = append(errs, fmt.Errorf("%s is below 0; 0 means the default", name))
		}
	}
	negative("MaxTurns", o.MaxTurns < 0)
	negative("TaskBudget", o.TaskBudget < 0)
	negative("MaxThinkingTokens", o.MaxThinkingTokens < 0)
	negative("ToolTimeout", o.ToolTimeout < 0)
	negative("Grace", o.Grace < 0)
	negative("IdleTimeout", o.IdleTimeout < 0)
	if !(o.MaxBudgetUSD >= 0 && o.MaxBudgetUSD < 1e12) {
		errs = append(errs, fmt.Errorf("MaxBudgetUSD is %v; give an amount above 0, or 0 for no limit", o.MaxBudgetUSD))
	}
	return errors.Join(errs...)
}

func checkModes(o *Options) error {
	if err := checkMode(o.logger(), o.PermissionMode); err != nil {
		return err
	}
	for _, s := range o.SettingSources {
		if err := checkSource(o.logger(), "setting source", s); err != nil {
			return err
		}
	}
	return checkSettings(o)
}

func checkSettings(o *Options) error {
	switch {
	case o.Settings == "":
		return nil
	case inline(o.Settings):
		if !json.Valid([]byte(o.Settings)) {
			return errors.New("the option Settings begins like a JSON object but is not one; check the syntax")
		}
		return nil
	}
	if _, err := os.Stat(o.settingsFile()); err != nil {
		return fmt.Errorf("the option Settings is %.100q, which is neither a JSON object nor an existing file; give one of them", o.Settings)
	}
	return nil
}

func checkAgents(o *Options) error {
	for name, a := range o.Agents {
		if name == "" || a == nil || a.Description == "" || a.Prompt == "" {
			return fmt.Errorf("the sub-agent %q needs a name, a Description that tells the model when to use it, and a Prompt", name)
		}
		log := o.logger().With("agent", name)
		if err := errors.Join(checkMCPServers(a.OwnServers), checkEffort(log, a.Effort), checkMode(log, a.PermissionMode), checkSource(log, "Memory", a.Memory)); err != nil {
			return fmt.Errorf("the sub-agent %q: %w", name, err)
		}
	}
	return nil
}

func checkArguments(o *Options) error {
	for _, arg := range slices.Concat([]string{o.CLI}, flags(o, nil), o.Args) {
		if flag, _, _ := strings.Cut(arg, "="); strings.ContainsRune(arg, 0) {
			return fmt.Errorf("the argument %q contains a zero byte; remove it", flag)
		}
	}
	for _, arg := range o.Args {
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case flag == "--mcp-config":
			return errors.New("--mcp-config is not allowed: its servers could have the names of other servers, and all users could read their secrets; set MCPServers")
		case !strings.HasPrefix(arg, "--") || arg == "--":
			return fmt.Errorf("the argument %q is not a flag; write --flag=value, and send prompts with Run or Send", arg)
		case slices.Contains([]string{"--output-format", "--input-format", "--print", "--sdk-url", "--version", "--help"}, flag):
			return fmt.Errorf("the flag %s would break the stream of messages; leave it out", flag)
		}
	}
	for _, e := range o.Env {
		if name, _, _ := strings.Cut(e, "="); name == "" || strings.ContainsRune(e, 0) {
			return errors.New(`an entry of Env has no name or contains a zero byte; write "NAME=value" or "NAME"`)
		}
	}
	return nil
}

func checkServers(o *Options) error {
	for _, s := range o.Servers {
		if err := s.usable(); err != nil {
			return err
		}
	}
	return checkMCPServers(o.MCPServers)
}

func checkMCPServers(servers map[string]*MCPServer) error {
	for name, s := range servers {
		switch {
		case name == "" || s == nil:
			return fmt.Errorf("the MCP server %q has no name or is nil; remove it or give both", name)
		case (s.Command == "") == (s.URL == ""):
			return fmt.Errorf("the MCP server %q needs a Command or a URL, and not both", name)
		case s.SSE && s.URL == "":
			return fmt.Errorf("the MCP server %q uses SSE but has no URL; set it", name)
		case s.Timeout < 0:
			return fmt.Errorf("the Timeout of the MCP server %q is below 0; 0 means the default", name)
		}
	}
	return nil
}
