package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/toolpost/toolpost/internal/wire"
)

// A PermissionRequest is a call that needs a decision, of [Options].Permission.
type PermissionRequest struct {
	ToolName    string          `json:"tool_name"`
	Input       json.RawMessage `json:"input"` // the arguments, an object
	ToolUseID   string          `json:"tool_use_id"`
	AgentID     string          `json:"agent_id"` // of the calling sub-agent; empty for the main agent
	Title       string          `json:"title"`    // the question as the CLI would ask it; may be empty
	DisplayName string          `json:"display_name"`
	Description string          `json:"description"`
	Server      struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	} `json:"mcp_server"` // of the tool; empty for built-in tools

	Suggestions        []PermissionUpdate `json:"permission_suggestions"` // updates that would allow the call from now on
	BlockedPath        string             `json:"blocked_path"`           // the file that caused the request
	DecisionReason     string             `json:"decision_reason"`        // the reason for the request
	DecisionReasonType string             `json:"decision_reason_type"`

	Raw json.RawMessage `json:"-"` // the whole request
}

// A Decision is the response to a PermissionRequest. The zero value denies.
type Decision struct {
	Allow   bool
	Input   json.RawMessage    // with Allow: replaces the arguments
	Updates []PermissionUpdate // with Allow: apply from now on

	Message   string // without Allow: the reason, for the model
	Interrupt bool   // without Allow: also ends the turn
}

// A PermissionUpdate changes the permissions.
type PermissionUpdate struct {
	Type        string           `json:"type"` // addRules, replaceRules, removeRules, setMode, addDirectories, removeDirectories
	Rules       []PermissionRule `json:"rules,omitempty"`
	Behavior    string           `json:"behavior,omitempty"` // of the rules: allow, deny, ask
	Mode        PermissionMode   `json:"mode,omitempty"`
	Directories []string         `json:"directories,omitempty"`
	Destination string           `json:"destination"` // session, or the settings to write: userSettings, projectSettings, localSettings; cliArg are those of the command line
}

// A PermissionRule selects calls.
type PermissionRule struct {
	ToolName    string `json:"toolName"`
	RuleContent string `json:"ruleContent,omitempty"` // which calls of the tool, such as "git log:*"; all if empty
}

// permissionAnswer is what the CLI reads.
type permissionAnswer struct {
	Behavior           string             `json:"behavior"`
	UpdatedInput       json.RawMessage    `json:"updatedInput,omitempty"`
	UpdatedPermissions []PermissionUpdate `json:"updatedPermissions,omitempty"`
	Message            string             `json:"message,omitempty"`
	Interrupt          bool               `json:"interrupt,omitempty"`
	ToolUseID          string             `json:"toolUseID,omitempty"`
}

// permit answers can_use_tool. It never answers with an error: the model would
// only read that the request failed.
func (o *Options) permit(ctx context.Context, request json.RawMessage) func() (any, error) {
	return func() (any, error) {
		in := &PermissionRequest{Raw: request}
		d, err := decide(ctx, o, in)
		if err != nil {
			if ctx.Err() == nil {
				warn(o.logger(), "denied a tool because the permission check failed", err, "tool", in.ToolName)
			}
			d = &Decision{Message: err.Error()}
		}
		return d.answer(in), nil
	}
}

func decide(ctx context.Context, o *Options, in *PermissionRequest) (*Decision, error) {
	if err := json.Unmarshal(in.Raw, in); err != nil {
		return nil, fmt.Errorf("read the permission request: %w", err)
	}
	if o.Permission == nil {
		return nil, errors.New("nobody can allow it")
	}
	if why := restrictions(o.Restrict).refusal(in.ToolName, in.Input); why != "" {
		return &Decision{Message: why}, nil
	}
	d, err := callGuarded(func() (*Decision, error) { return o.Permission(ctx, in) })
	if err != nil || d == nil || !d.Allow {
		return d, err
	}
	if d.Input != nil {
		if !isObject(d.Input) {
			return nil, errors.New("the arguments from the permission callback are not a JSON object")
		}
		if why := restrictions(o.Restrict).refusal(in.ToolName, d.Input); why != "" {
			return &Decision{Message: why}, nil
		}
	}
	return d, nil
}

func (d *Decision) answer(in *PermissionRequest) *permissionAnswer {
	a := &permissionAnswer{Behavior: "deny", ToolUseID: in.ToolUseID}
	switch {
	case d != nil && d.Allow:
		a.Behavior, a.UpdatedInput, a.UpdatedPermissions = "allow", d.Input, d.Updates
		if a.UpdatedInput == nil {
			a.UpdatedInput = in.Input
		}
	case d != nil:
		a.Message, a.Interrupt = d.Message, d.Interrupt
	}
	if a.Behavior == "deny" && a.Message == "" {
		a.Message = "The user does not allow this call."
	}
	return a
}

// A panicError is what a callback panicked with.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("the callback panicked: %v", e.value) }

// callGuarded calls f and returns a panic of it as an error.
func callGuarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return f()
}

// warn logs an error of a callback, with the stack if it is a panic.
func warn(log *slog.Logger, text string, err error, attrs ...any) {
	attrs = append(attrs, "error", err)
	if p, ok := err.(*panicError); ok {
		attrs = append(attrs, "stack", string(p.stack))
	}
	log.Warn(text, attrs...)
}

func isObject(raw json.RawMessage) bool { return wire.Valid(raw) && wire.IsObject(raw) }
