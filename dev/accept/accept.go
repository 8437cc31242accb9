// Package accept reports whether a list of tools is what a model or client
// accepts, and gives tests the schemas, tools and values to try it with. It is
// written from the documented rules alone and shares no code with the package
// that adapts tools, so that one can be held against the other.
package accept

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A Tool is one tool as a target is sent it.
type Tool struct {
	Server      string // the name the client has for the server, where it goes before the tool's
	Name        string
	Description string
	Input       json.RawMessage // nil: left out
	Output      json.RawMessage // nil: left out
	Strict      bool            // the target is asked to keep to the schema
}

// A Violation is one rule that a tool, or the list of all, does not keep.
type Violation struct {
	Tool    string // its name; "" for the list
	Pointer string // into its input schema; "output" and a pointer for the output schema
	Rule    string // set and name, like "G1/keys"
	Detail  string
}

// String returns all of it, in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s: tool %q at %q: %s", v.Rule, v.Tool, v.Pointer, v.Detail)
}

// Targets returns the names that Check knows, sorted.
func Targets() []string { return slices.Sorted(maps.Keys(ruleSets())) }

// Check returns what target would not accept of tools, nil if it accepts all.
// Rules for strict tools hold for those that are Strict; the others of a strict
// target are held against its rules for plain ones.
func Check(target string, tools []Tool) []Violation {
	rules, ok := ruleSets()[target]
	if !ok {
		return []Violation{{Rule: "target", Detail: "no rules for " + strconv.Quote(target)}}
	}
	var found []Violation
	all := make([]*subject, 0, len(tools))
	for _, t := range tools {
		s := newSubject(t, &found)
		all = append(all, s)
		for _, r := range append(rules.each, rules.name.length) {
			r(s)
		}
	}
	for _, r := range append(rules.all, uniqueNames, rules.name.collisions) {
		r(all, func(rule, format string, args ...any) {
			found = append(found, Violation{Rule: rule, Detail: fmt.Sprintf(format, args...)})
		})
	}
	return found
}

// rules of one target: for every tool, and for the list.
type rules struct {
	each []func(*subject)
	all  []func([]*subject, report)
	name naming
}

type report func(rule, format string, args ...any)

// ruleSets is the table of all targets.
func ruleSets() map[string]rules {
	return map[string]rules{
		"gemini-schema":    {each: []func(*subject){geminiSchema}, all: []func([]*subject, report){atMost("G1/count", 512)}},
		"gemini":           {each: []func(*subject){gemini, geminiName}, all: []func([]*subject, report){atMost("G2/count", 512)}},
		"openai":           {each: []func(*subject){openai}, all: []func([]*subject, report){atMost("O0/count", 128)}},
		"openai-strict":    {each: []func(*subject){openaiStrict}, all: []func([]*subject, report){atMost("O1/count", 128)}},
		"anthropic":        {each: []func(*subject){anthropic}},
		"anthropic-strict": {each: []func(*subject){anthropicStrict}, all: []func([]*subject, report){anthropicTotals}},
		"bedrock":          {each: []func(*subject){bedrock}, all: []func([]*subject, report){anthropicTotals}},
		"claude-code":      {each: []func(*subject){anthropic, claudeCode}, name: naming{"claude-code", joined(outsideName, "mcp__", "__"), 128}}, // cc.name, cc.collide
		"claude-desktop":   {each: []func(*subject){claudeDesktop}},
		"vscode":           {each: []func(*subject){mcp, vscode}, all: []func([]*subject, report){atMost("V1/count", 128)}},
		"cursor":           {each: []func(*subject){mcp, cursor}, all: []func([]*subject, report){atMost("cursor/count", 80)}},
		"windsurf":         {each: []func(*subject){mcp}, all: []func([]*subject, report){atMost("windsurf/count", 100)}},
		"gemini-cli":       {each: []func(*subject){gemini, geminiCLI}, name: naming{"gemini-cli", joined(outsideGemini, "mcp_", "_"), 63}}, // gcli.name
		"codex":            {each: []func(*subject){mcp, codex}, name: naming{"codex", joined(outsideCodex, "mcp__", "__"), 128}},           // codex.name
		"copilot-cli":      {each: []func(*subject){mcp, copilotCLI}, name: naming{"copilot-cli", copilotCLIName, 64}},                      // cop.name
		"opencode":         {each: []func(*subject){mcp, opencode}, name: naming{"opencode", joined(outsideName, "", "_"), 0}},
		"ollama":           {each: []func(*subject){mcp, llama}},
		"llama.cpp":        {each: []func(*subject){mcp, llama}},
		"mistral":          {each: []func(*subject){mistral}},
		"kimi":             {each: []func(*subject){kimi}},
		"xai":              {each: []func(*subject){xai}, all: []func([]*subject, report){atMost("xai/count", 200)}},
		"kiro":             {each: []func(*subject){kiro}},
		"zed":              {each: []func(*subject){zed}},
		"cline":            {each: []func(*subject){cline}, name: naming{"cline", joined(outsideName, "", "__"), 64}},
		"qwen-code":        {each: []func(*subject){qwenCode}, name: naming{"qwen-code", joined(outsideName, "mcp__", "__"), 63}},
		"claude-ai":        {each: []func(*subject){claudeAI}},
		"mcp":              {each: []func(*subject){mcp}},
		"draft-07":         {each: []func(*subject){draft07}},
	}
}
