package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolpost/toolpost/internal/suggest"
)

// A HookOutput is the response of a hook. The zero value changes nothing.
type HookOutput struct {
	Stop           bool   // ends the turn
	StopReason     string // with Stop; shown to people
	SystemMessage  string // a warning that is shown to people
	SuppressOutput bool   // keeps the output out of the transcript

	// Block refuses the prompt of a UserPromptSubmit, keeps the agent of a Stop
	// or SubagentStop working, or reports a problem to the model after a tool;
	// Reason explains it. For PreToolUse use Permission.
	Block bool

	// Permission decides about the tool of a PreToolUse or an OnPermission; "" makes
	// no decision.
	Permission HookPermission
	Reason     string // for Block and Permission; the model reads it

	Input   json.RawMessage // runs the tool with these arguments, as Permission does
	Output  any             // replaces the output of the tool of a PostToolUse
	Context string          // additional context for the model

	// Async is how long what the hook has started may take while the CLI goes on;
	// nothing else of the output counts then. The CLI does not go on if it is 0.
	Async time.Duration

	// Specific are further members of hookSpecificOutput, by the CLI's names.
	Specific map[string]any
}

// A HookPermission is a decision of a PreToolUse hook.
type HookPermission string

// The decisions of a PreToolUse hook.
const (
	HookAllow HookPermission = "allow"
	HookDeny  HookPermission = "deny"
	HookAsk   HookPermission = "ask"   // Options.Permission decides
	HookDefer HookPermission = "defer" // the turn ends, and its result contains the call
)

// check refuses what is almost a decision: the CLI would ignore it, and run the tool.
func (p HookPermission) check() error {
	known := []string{string(HookAllow), string(HookDeny), string(HookAsk), string(HookDefer)}
	if slices.Contains(known, string(p)) || p == "" {
		return nil
	}
	if near := suggest.Misspelled(string(p), known); near != "" {
		return fmt.Errorf("the Permission of a hook is %q, which the CLI does not know; did you mean %s?", p, near)
	}
	return nil
}

// setIf sets a member if it is given.
func setIf(given bool, to map[string]any, name string, value any) {
	if given {
		to[name] = value
	}
}

// answer is what the CLI reads.
func (h *HookOutput) answer(event HookEvent) (map[string]any, error) {
	a := map[string]any{}
	switch {
	case h == nil:
		return a, nil
	case h.Async > 0:
		return map[string]any{"async": true, "asyncTimeout": milliseconds(h.Async)}, nil
	case h.Input != nil && !isObject(h.Input):
		return nil, fmt.Errorf("the arguments from a %s hook are not a JSON object", event)
	}
	if err := h.Permission.check(); err != nil {
		return nil, err
	}
	setIf(h.Stop, a, "continue", false)
	setIf(h.StopReason != "", a, "stopReason", h.StopReason)
	setIf(h.SystemMessage != "", a, "systemMessage", h.SystemMessage)
	setIf(h.SuppressOutput, a, "suppressOutput", true)
	setIf(h.Block, a, "decision", "block")
	setIf(h.Reason != "" && h.Permission == "", a, "reason", h.Reason)
	if specific := h.specific(event); len(specific) > 0 {
		specific["hookEventName"] = event
		a["hookSpecificOutput"] = specific
	}
	return a, nil
}

// specific are the members that depend on the event.
func (h *HookOutput) specific(event HookEvent) map[string]any {
	s := map[string]any{}
	maps.Copy(s, h.Specific)
	switch {
	case event == OnPermission && (h.Permission == HookAllow || h.Permission == HookDeny):
		decision := map[string]any{"behavior": h.Permission}
		setIf(h.Input != nil, decision, "updatedInput", h.Input)
		setIf(h.Reason != "", decision, "message", h.Reason)
		setIf(h.Stop, decision, "interrupt", true)
		s["decision"] = decision
	case event != OnPermission:
		setIf(h.Permission != "", s, "permissionDecision", h.Permission)
		setIf(h.Permission != "" && h.Reason != "", s, "permissionDecisionReason", h.Reason)
		setIf(h.Input != nil, s, "updatedInput", h.Input)
	}
	setIf(h.Context != "", s, "additionalContext", h.Context)
	setIf(h.Output != nil, s, "updatedToolOutput", h.Output)
	return s
}
