package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Hook is a function that the CLI calls at an event and waits for.
type Hook struct {
	Event HookEvent

	// Matcher selects the events: names of tools such as "Bash|Edit", or a
	// regular expression. For events that are not about tools, see the CLI's
	// documentation. Empty matches all.
	Matcher string

	// Timeout is how long the CLI waits; 0 means the CLI's default. If it
	// passes, a tool that waits for the hook is blocked.
	Timeout time.Duration

	// FailClosed blocks the action if the hook fails. Otherwise the CLI reports
	// the failure and continues.
	FailClosed bool

	// Handle may return nil, which changes nothing. An error or a panic is a
	// failure. Ctx ends after Timeout. Handle may be called again before an
	// earlier call has returned.
	Handle func(ctx context.Context, in *HookInput) (*HookOutput, error)
}

// A HookEvent is an event for which a hook is called.
type HookEvent string

// The events that hooks can act on. There are more; use their names in the
// CLI's documentation, and read their data from HookInput.Raw.
const (
	PreToolUse         HookEvent = "PreToolUse"
	PostToolUse        HookEvent = "PostToolUse"
	PostToolUseFailure HookEvent = "PostToolUseFailure"
	PostToolBatch      HookEvent = "PostToolBatch" // all calls of one answer have ended
	UserPromptSubmit   HookEvent = "UserPromptSubmit"
	Stop               HookEvent = "Stop" // the model has finished
	SubagentStart      HookEvent = "SubagentStart"
	SubagentStop       HookEvent = "SubagentStop"
	PreCompact         HookEvent = "PreCompact"
	Notification       HookEvent = "Notification"
	OnPermission       HookEvent = "PermissionRequest"
)

// A HookInput describes an event. Which fields are set depends on the event.
type HookInput struct {
	Event          HookEvent `json:"hook_event_name"`
	SessionID      string    `json:"session_id"`
	TranscriptPath string    `json:"transcript_path"`
	CWD            string    `json:"cwd"`
	PermissionMode string    `json:"permission_mode"`
	AgentID        string    `json:"agent_id"` // of the sub-agent in which the event occurred; empty for the main agent
	AgentType      string    `json:"agent_type"`

	// The tool events.
	ToolName     string          `json:"tool_name"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolResponse json.RawMessage `json:"tool_response"` // PostToolUse
	Error        string          `json:"error"`         // PostToolUseFailure
	DurationMS   float64         `json:"duration_ms"`
	ToolCalls    []struct {
		ToolName     string          `json:"tool_name"`
		ToolInput    json.RawMessage `json:"tool_input"`
		ToolUseID    string          `json:"tool_use_id"`
		ToolResponse json.RawMessage `json:"tool_response"`
	} `json:"tool_calls"` // PostToolBatch

	// UserPromptSubmit.
	Prompt string `json:"prompt"`

	// Stop and SubagentStop.
	StopHookActive       bool   `json:"stop_hook_active"` // a hook has kept it from stopping before
	LastAssistantMessage string `json:"last_assistant_message"`

	// PreCompact.
	Trigger            string `json:"trigger"` // manual or auto
	CustomInstructions string `json:"custom_instructions"`

	// Notification.
	Message          string `json:"message"`
	Title            string `json:"title"`
	NotificationType string `json:"notification_type"`

	Raw json.RawMessage `json:"-"` // the whole input
}

type hookMatcher struct {
	Matcher   string   `json:"matcher,omitempty"`
	IDs       []string `json:"hookCallbackIds"`
	Timeout   float64  `json:"timeout,omitempty"` // seconds
	OnFailure string   `json:"onFailure,omitempty"`
}

const hookPrefix = "hook_"

// hookMatchers are the hooks as the CLI is told of them, by event.
func hookMatchers(o *Options) map[HookEvent][]hookMatcher {
	by := map[HookEvent][]hookMatcher{}
	if len(o.Restrict) > 0 {
		by[PreToolUse] = append(by[PreToolUse], restrictions(o.Restrict).matcher())
	}
	for i, h := range o.Hooks {
		m := hookMatcher{Matcher: h.Matcher, IDs: []string{hookPrefix + strconv.Itoa(i)}, Timeout: h.Timeout.Seconds()}
		if h.FailClosed {
			m.OnFailure = "block"
		}
		by[h.Event] = append(by[h.Event], m)
	}
	return by
}

// hook answers hook_callback.
func (o *Options) hook(ctx context.Context, request json.RawMessage) func() (any, error) {
	return func() (any, error) {
		var r struct {
			ID    string          `json:"callback_id"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, fmt.Errorf("read the call of a hook: %w", err)
		}
		in := &HookInput{Raw: r.Input}
		if err := json.Unmarshal(r.Input, in); err != nil {
			return nil, fmt.Errorf("read the input of the hook %s: %w", r.ID, err)
		}
		out, err := callHook(ctx, o, r.ID, in)
		if err != nil {
			if ctx.Err() == nil {
				warn(o.logger(), "a hook failed", err, "event", in.Event, "tool", in.ToolName)
			}
			return nil, err
		}
		return out.answer(in.Event)
	}
}

func callHook(ctx context.Context, o *Options, id string, in *HookInput) (*HookOutput, error) {
	if id == restrictID {
		return restrictions(o.Restrict).hook(in), nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(id, hookPrefix))
	if err != nil || n < 0 || n >= len(o.Hooks) {
		return nil, fmt.Errorf("there is no hook %q", id)
	}
	return callGuarded(func() (*HookOutput, error) { return o.Hooks[n].Handle(ctx, in) })
}

// hookEvents are those that this package knows. The CLI ignores a hook for an event that
// it does not know, and newer versions have more.
const hookEvents = "PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion " +
	"SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch " +
	"PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange " +
	"WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay PreSkillShellCommand"

func checkHooks(hooks []Hook, log *slog.Logger) error {
	silent := []HookEvent{"SessionStart", "SessionEnd"}
	for i, h := range hooks {
		switch {
		case h.Event == "":
			return fmt.Errorf("hook %d has no Event; set one such as PreToolUse", i)
		case h.Handle == nil:
			return fmt.Errorf("hook %d, for %s, has no Handle; set the function to be called", i, h.Event)
		case h.Timeout < 0:
			return fmt.Errorf("the Timeout of hook %d, for %s, is below 0; 0 means the default", i, h.Event)
		case slices.Contains(silent, h.Event):
			return fmt.Errorf("hook %d would never be called: the CLI does not send %s to hooks of the process that started it; act when you open or close the session", i, h.Event)
		}
		if err := checkWord(log, fmt.Sprintf("Event of hook %d", i), string(h.Event), strings.Fields(hookEvents)...); err != nil {
			return err
		}
	}
	return nil
}
