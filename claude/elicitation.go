package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// An Elicitation is a question of an MCP server to the user (MCP, Elicitation).
type Elicitation struct {
	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode"` // form or url
	URL     string          `json:"url"`  // of mode url, for the user to open
	ID      string          `json:"elicitation_id"`
	Schema  json.RawMessage `json:"requested_schema"` // of the content, in mode form
	Title   string          `json:"title"`
	Raw     json.RawMessage `json:"-"` // the whole request
}

// An ElicitationAnswer is the answer of the user.
type ElicitationAnswer struct {
	Action  string `json:"action"`            // accept, decline or cancel
	Content any    `json:"content,omitempty"` // with accept: an object that fits the schema
}

// A Dialog is a question of the CLI that the process shows to the user. It asks only
// for the kinds of Options.DialogKinds.
type Dialog struct {
	Kind      string          `json:"dialog_kind"`
	Payload   json.RawMessage `json:"payload"` // what to show; its members depend on the kind
	ToolUseID string          `json:"tool_use_id"`
}

// elicit answers elicitation.
func (o *Options) elicit(ctx context.Context, request json.RawMessage) func() (any, error) {
	return func() (any, error) {
		in := &Elicitation{Raw: request}
		if err := json.Unmarshal(request, in); err != nil {
			return nil, fmt.Errorf("read the elicitation: %w", err)
		}
		declined := &ElicitationAnswer{Action: "decline"}
		if o.Elicitation == nil {
			return declined, nil
		}
		a, err := callGuarded(func() (*ElicitationAnswer, error) { return o.Elicitation(ctx, in) })
		if err == nil && a != nil && !slices.Contains([]string{"accept", "decline", "cancel"}, a.Action) {
			err = fmt.Errorf("unknown action %q; use accept, decline or cancel", a.Action)
		}
		if err != nil {
			warn(o.logger(), "declined an elicitation because its callback failed", err, "server", in.Server)
		}
		if err != nil || a == nil {
			return declined, nil
		}
		return a, nil
	}
}

// dialog answers request_user_dialog. Without a callback the request is left to other
// hosts of the CLI.
func (o *Options) dialog(ctx context.Context, request json.RawMessage) func() (any, error) {
	return func() (any, error) {
		in := &Dialog{}
		if o.Dialog == nil {
			return nil, errUnanswered
		}
		if err := json.Unmarshal(request, in); err != nil {
			return nil, fmt.Errorf("read the dialog: %w", err)
		}
		result, err := callGuarded(func() (any, error) { return o.Dialog(ctx, in) })
		if err != nil {
			warn(o.logger(), "cancelled a dialog because its callback failed", err, "kind", in.Kind)
		}
		if err != nil || result == nil {
			return map[string]any{"behavior": "cancelled"}, nil
		}
		return map[string]any{"behavior": "completed", "result": result}, nil
	}
}
