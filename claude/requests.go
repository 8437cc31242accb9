package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost/claude/message"
)

// A Control sends requests to the CLI of a session. It is safe for concurrent use.
type Control struct{ s *Session }

// Request sends a control request with any subtype. Body is an object or nil.
// The response is decoded into result, which may be nil. If the CLI refuses,
// the error is a *RequestError.
func (c *Control) Request(ctx context.Context, subtype string, body, result any) error {
	wait, err := c.s.conn.post(subtype, body)
	if err != nil {
		return c.s.because(err)
	}
	answer, err := wait(ctx)
	if err != nil {
		return err
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("read the claude CLI's answer to %s: %w", subtype, err)
	}
	return nil
}

// SetModel changes the model from the next turn on; empty selects the default.
func (c *Control) SetModel(ctx context.Context, model string) error {
	body := map[string]any{"model": nil}
	if model != "" {
		body["model"] = model
	}
	return c.Request(ctx, "set_model", body, nil)
}

// SetPermissionMode changes what may run without a permission request. It returns the
// mode that the CLI uses now, which may be another one than it was asked for.
func (c *Control) SetPermissionMode(ctx context.Context, mode PermissionMode) (PermissionMode, error) {
	answer := struct{ Mode PermissionMode }{mode}
	if err := c.Request(ctx, "set_permission_mode", map[string]any{"mode": mode}, &answer); err != nil {
		return "", err
	}
	return cmp.Or(answer.Mode, mode), nil
}

// SetMaxThinkingTokens changes the budget of thinking from the next turn on; 0 turns
// thinking off, and below 0 selects the model's default.
func (c *Control) SetMaxThinkingTokens(ctx context.Context, tokens int) error {
	body := map[string]any{"max_thinking_tokens": nil}
	if tokens >= 0 {
		body["max_thinking_tokens"] = tokens
	}
	return c.Request(ctx, "set_max_thinking_tokens", body, nil)
}

// ReconnectServer connects to an MCP server of the CLI again.
func (c *Control) ReconnectServer(ctx context.Context, name string) error {
	return c.Request(ctx, "mcp_reconnect", map[string]any{"serverName": name}, nil)
}

// EnableServer switches an MCP server of the CLI on or off.
func (c *Control) EnableServer(ctx context.Context, name string, on bool) error {
	return c.Request(ctx, "mcp_toggle", map[string]any{"serverName": name, "enabled": on}, nil)
}

// MCPStatus returns the state of all MCP servers.
func (c *Control) MCPStatus(ctx context.Context) ([]message.MCPServer, error) {
	var answer struct {
		Servers []message.MCPServer `json:"mcpServers"`
	}
	err := c.Request(ctx, "mcp_status", nil, &answer)
	return answer.Servers, err
}

// ContextUsage describes how full the model's context is.
type ContextUsage struct {
	Model       string  `json:"model"`
	TotalTokens int64   `json:"totalTokens"`
	MaxTokens   int64   `json:"maxTokens"`
	Percentage  float64 `json:"percentage"`
	Categories  []struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Tokens int64  `json:"tokens"`
		Kind   string `json:"kind"` // used, free, buffer or deferred
	} `json:"categories"`
	Raw json.RawMessage `json:"-"` // the whole answer
}

// ContextUsage returns how full the model's context is.
func (c *Control) ContextUsage(ctx context.Context) (*ContextUsage, error) {
	var raw json.RawMessage
	if err := c.Request(ctx, "get_context_usage", nil, &raw); err != nil {
		return nil, err
	}
	usage := &ContextUsage{Raw: raw}
	if err := json.Unmarshal(raw, usage); err != nil {
		return nil, fmt.Errorf("read the context usage: %w", err)
	}
	return usage, nil
}

// SessionCost returns the CLI's own summary of cost and time, as text for people.
func (c *Control) SessionCost(ctx context.Context) (string, error) {
	var answer struct {
		Text string `json:"text"`
	}
	err := c.Request(ctx, "get_session_cost", nil, &answer)
	return answer.Text, err
}

// A Rewind describes the changes of a rewind.
type Rewind struct {
	CanRewind    bool     `json:"canRewind"`
	Error        string   `json:"error"`
	FilesChanged []string `json:"filesChanged"`
	Insertions   int      `json:"insertions"`
	Deletions    int      `json:"deletions"`
}

// RewindFiles restores files to their state at a prompt, given by its UUID. It
// requires Options.Checkpoints. With dry it only reports what would change.
func (c *Control) RewindFiles(ctx context.Context, uuid string, dry bool) (*Rewind, error) {
	answer := &Rewind{}
	err := c.Request(ctx, "rewind_files", map[string]any{"user_message_id": uuid, "dry_run": dry}, answer)
	return answer, err
}

// StopTask ends a background task.
func (c *Control) StopTask(ctx context.Context, id string) error {
	return c.Request(ctx, "stop_task", map[string]any{"task_id": id}, nil)
}
