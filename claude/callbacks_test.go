package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/toolpost/toolpost/claude"
)

// permit answers as the recorded host did.
func (h *host) permit(_ context.Context, in *claude.PermissionRequest) (*claude.Decision, error) {
	var arguments any
	if err := json.Unmarshal(in.Input, &arguments); err != nil {
		h.Errorf("the arguments of %s: %v", in.ToolName, err)
	}
	h.note(&h.asked, "%s %s", in.ToolName, encode(arguments))
	for _, q := range h.recording.asked("can_use_tool", "") {
		if q.text("request", "tool_use_id") != in.ToolUseID {
			continue
		}
		a := h.answered(q.text("request_id"))
		if text := a.text("response", "error"); text != "" {
			return nil, errors.New(text)
		}
		d := &claude.Decision{Message: a.text("response", "response", "message")}
		if input := a.at("response", "response", "updatedInput"); input != nil {
			d.Allow, d.Input = true, json.RawMessage(encode(input))
		}
		return d, nil
	}
	return nil, errors.New("the recording does not ask for this")
}

// implyHooks sets the hooks that the recorded host had.
func (h *host) implyHooks(o *claude.Options) {
	events, _ := h.first().at("request", "hooks").(object)
	for _, event := range slices.Sorted(maps.Keys(events)) {
		if event == "SessionStart" || event == "SessionEnd" {
			continue // the CLI never calls them, and the SDK says so
		}
		for _, hook := range linesOf(events[event]) {
			seconds, _ := hook["timeout"].(float64)
			o.Hooks = append(o.Hooks, claude.Hook{
				Event: claude.HookEvent(event), Matcher: hook.text("matcher"),
				Timeout: time.Duration(seconds * float64(time.Second)), Handle: h.hook,
			})
		}
	}
}

// hook answers as the recorded host did; where the CLI did not wait for that
// host, it does not wait now either.
func (h *host) hook(ctx context.Context, in *claude.HookInput) (*claude.HookOutput, error) {
	h.note(&h.hooked, "%s", in.Event)
	for _, q := range h.recording.asked("hook_callback", "") {
		id := q.text("request_id")
		if q.text("request", "input", "hook_event_name") != string(in.Event) {
			continue
		}
		if h.cancelled(id) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		a := h.answered(id)
		specific, _ := a.at("response", "response", "hookSpecificOutput").(object)
		out := &claude.HookOutput{
			Permission: claude.HookPermission(line(specific).text("permissionDecision")),
			Reason:     line(specific).text("permissionDecisionReason"),
			Context:    line(specific).text("additionalContext"),
		}
		if input := specific["updatedInput"]; input != nil {
			out.Input = json.RawMessage(encode(input))
		}
		return out, nil
	}
	return nil, errors.New("the recording does not call this hook")
}

// cancelled says that the CLI took a request back.
func (r *recording) cancelled(id string) bool {
	return slices.ContainsFunc(r.entries, func(e entry) bool {
		return e.dir == "stdout" && e.line.text("type") == "control_cancel_request" && e.line.text("request_id") == id
	})
}
