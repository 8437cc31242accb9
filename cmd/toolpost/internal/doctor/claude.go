package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Deferral is whether Claude Code defers tools: whether it puts only their names
// into a session and looks definitions up when it needs them.
type Deferral struct {
	Active bool   `json:"active"`
	Reason string `json:"reason"`
	Tokens int    `json:"tokens"` // of all definitions that Claude Code gets, estimated
}

// expensive is the number of tokens of definitions, sent with every request,
// from which they are worth a warning: a tenth of a context of 200,000 tokens.
const expensive = 20_000

// ClaudeCode examines whether Claude Code defers the tools of m. Env looks up
// the variables that Claude Code is started with; see [ClaudeEnvironment].
func (m *Matrix) ClaudeCode(env func(string) string) (*Deferral, []Finding) {
	c := m.client("claude-code")
	if c == nil {
		return nil, nil
	}
	d := deferral(env)
	if d.Tokens = c.Tokens; d.Active || c.Tokens == 0 {
		return d, nil
	}
	severity := Note
	if c.Tokens >= expensive {
		severity = Warning
	}
	return d, []Finding{{ID: "deferral-off", Severity: severity, Client: "claude-code",
		Message: fmt.Sprintf("Claude Code puts all definitions into every request, about %d tokens, because %s", c.Tokens, d.Reason),
		Fix:     "export ENABLE_TOOL_SEARCH=true, if the address in ANTHROPIC_BASE_URL supports tool search"}}
}

func deferral(env func(string) string) *Deferral {
	choice, base := strings.ToLower(env("ENABLE_TOOL_SEARCH")), env("ANTHROPIC_BASE_URL")
	switch {
	case choice == "false" || choice == "0" || choice == "no":
		return &Deferral{Reason: "ENABLE_TOOL_SEARCH switches tool search off"}
	case choice != "":
		return &Deferral{Active: true, Reason: "ENABLE_TOOL_SEARCH switches tool search on"}
	case base != "" && !firstParty(base):
		return &Deferral{Reason: "ANTHROPIC_BASE_URL is not an address of Anthropic, which switches tool search off"}
	}
	return &Deferral{Active: true, Reason: "tool search is on by default"}
}

func firstParty(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

// longestSettings is the size up to which settings of Claude Code are read.
const longestSettings = 1 << 20

// ClaudeEnvironment returns the variables that Claude Code sees: those of its
// user settings in home, and below them those of the environment.
func ClaudeEnvironment(home string, env func(string) string) func(string) string {
	var settings struct {
		Env map[string]string `json:"env"`
	}
	path := filepath.Join(cmp.Or(env("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "settings.json")
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= longestSettings {
		if data, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(data, &settings) // settings that cannot be read set nothing
		}
	}
	return func(name string) string { return cmp.Or(settings.Env[name], env(name)) }
}
