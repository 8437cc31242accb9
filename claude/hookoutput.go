package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
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

	// Permission decides about the tool of a PreToolUse; "" makes no decision.
	Permission HookPermission
	Reason     string // for Block and Permission; the model reads it

	Input   json.RawMessage // runs the tool of a PreToolUse with these arguments
	Output  any             // replaces the output of the tool of a PostToolUse
	Context string          // additional context for the model

	Decision *Decision // answers the permission request of OnPermission; nil leaves it open

	// Async lets the CLI go on without waiting for what the hook has started: nothing
	// else of the output counts then. AsyncTimeout is how long that may take.
	Async        bool
	AsyncTimeout time.Duration

	// Specific are further members of hookSpecificOutput, by the CLI's names.
	Specific map[string]any
}

// A HookPermission is a decision of a PreToolUse hook.
type HookPermission string

// The decisions of a PreToolUse hook.
const (
	PermissionAllow HookPermission = "allow"
	PermissionDeny  HookPermission = "deny"
	PermissionAsk   HookPermission = "ask"   // Options.Permission decides
	PermissionDefer HookPermission = "defer" // the turn ends, and its result contains the call
)

// answer is what the CLI reads.
func (h *HookOutput) answer(event HookEvent) (map[string]any, error) {
	a := map[string]any{}
	if h == nil {
		return a, nil
	}
	set := func(to map[string]any, name string, ok bool, value any) {
		if ok {
			to[name] = value
		}
	}
	if h.Async {
		a["async"] = true
		set(a, "asyncTimeout", h.AsyncTimeout > 0, milliseconds(h.AsyncTimeout))
		return a, nil
	}
	set(a, "continue", h.Stop, false)
	set(a, "stopReason", h.StopReason != "", h.StopReason)
	set(a, "systemMessage", h.SystemMessage != "", h.SystemMessage)
	set(a, "suppressOutput", h.SuppressOutput, true)
	set(a, "decision", h.Block, "block")
	set(a, "reason", h.Reason != "" && h.Permission == "", h.Reason)
	specific := maps.Clone(h.Specific)
	if specific == nil {
		specific = map[string]any{}
	}
	if h.Permission != "" {
		specific["permissionDecision"] = h.Permission
		set(specific, "permissionDecisionReason", h.Reason != "", h.Reason)
	}
	if h.Input != nil {
		if !isObject(h.Input) {
			return nil, fmt.Errorf("the arguments from a %s hook are not a JSON object", event)
		}
		specific["updatedInput"] = h.Input
	}
	set(specific, "additionalContext", h.Context != "", h.Context)
	set(specific, "updatedToolOutput", h.Output != nil, h.Output)
	if h.Decision != nil {
		specific["decision"] = h.Decision.answer(&PermissionRequest{})
	}
	if len(specific) > 0 {
		specific["hookEventName"] = event
		a["hookSpecificOutput"] = specific
	}
	return a, nil
}
