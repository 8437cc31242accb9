package claude

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHook(t *testing.T) {
	tests := []struct {
		name  string
		event HookEvent
		give  func() (*HookOutput, error)
		want  string
		err   string
	}{
		{"nothing", PreToolUse, func() (*HookOutput, error) { return nil, nil }, `{}`, ""},
		{"zero", PreToolUse, func() (*HookOutput, error) { return &HookOutput{}, nil }, `{}`, ""},
		{"allow", PreToolUse, func() (*HookOutput, error) {
			return &HookOutput{Permission: HookAllow, Reason: "ok", Input: json.RawMessage(`{"a":20}`), Context: "more"}, nil
		}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"ok",
			"updatedInput":{"a":20},"additionalContext":"more"}}`, ""},
		{"deny", PreToolUse, func() (*HookOutput, error) { return &HookOutput{Permission: HookDeny}, nil },
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, ""},
		{"ask", PreToolUse, func() (*HookOutput, error) { return &HookOutput{Permission: HookAsk}, nil },
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}`, ""},
		{"defer", PreToolUse, func() (*HookOutput, error) { return &HookOutput{Permission: HookDefer}, nil },
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}`, ""},
		{"block", UserPromptSubmit, func() (*HookOutput, error) { return &HookOutput{Block: true, Reason: "no"}, nil },
			`{"decision":"block","reason":"no"}`, ""},
		{"stop", Stop, func() (*HookOutput, error) {
			return &HookOutput{Stop: true, StopReason: "enough", SystemMessage: "mind", SuppressOutput: true}, nil
		}, `{"continue":false,"stopReason":"enough","systemMessage":"mind","suppressOutput":true}`, ""},
		{"context", PostToolUse, func() (*HookOutput, error) {
			return &HookOutput{Context: "post", Specific: map[string]any{"updatedMCPToolOutput": "x"}}, nil
		}, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"post","updatedMCPToolOutput":"x"}}`, ""},
		{"output", PostToolUse, func() (*HookOutput, error) { return &HookOutput{Output: map[string]any{"text": "x"}}, nil },
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"text":"x"}}}`, ""},
		{"misspelled decision", PreToolUse, func() (*HookOutput, error) { return &HookOutput{Permission: "Deny "}, nil }, "", `the Permission of a hook is "Deny ", which the CLI does not know; did you mean deny?`},
		{"decision of a newer CLI", PreToolUse, func() (*HookOutput, error) { return &HookOutput{Permission: "sandbox"}, nil },
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"sandbox"}}`, ""},
		{"decision", OnPermission, func() (*HookOutput, error) {
			return &HookOutput{Permission: HookAllow, Input: json.RawMessage(`{"a":1}`)}, nil
		}, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}}`, ""},
		{"refusal", OnPermission, func() (*HookOutput, error) {
			return &HookOutput{Permission: HookDeny, Reason: "no", Stop: true}, nil
		}, `{"continue":false,"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`, ""},
		{"async", PostToolUse, func() (*HookOutput, error) {
			return &HookOutput{Async: 1500 * time.Millisecond, Context: "ignored"}, nil
		}, `{"async":true,"asyncTimeout":1500}`, ""},
		{"no object", PreToolUse, func() (*HookOutput, error) { return &HookOutput{Input: json.RawMessage(`3`)}, nil },
			"", "the arguments from a PreToolUse hook are not a JSON object"},
		{"error", PreToolUse, func() (*HookOutput, error) { return nil, errors.New("out of order") }, "", "out of order"},
		{"panic", PreToolUse, func() (*HookOutput, error) { panic("oh") }, "", "the callback panicked: oh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &Options{Logger: slog.New(slog.DiscardHandler), Hooks: []Hook{
				{Event: tt.event, Handle: func(context.Context, *HookInput) (*HookOutput, error) { t.Error("not this one"); return nil, nil }},
				{Event: tt.event, Handle: func(context.Context, *HookInput) (*HookOutput, error) { return tt.give() }},
			}}
			answer, err := o.hook(t.Context(), json.RawMessage(`{"subtype":"hook_callback","callback_id":"hook_1","input":{"hook_event_name":"`+string(tt.event)+`"}}`))()
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("the error is %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, answer, tt.want)
		})
	}
}

func TestHookInput(t *testing.T) {
	const head = `"session_id":"s","transcript_path":"t","cwd":"/project","permission_mode":"default","agent_id":"ag","agent_type":"rev",`
	base := HookInput{SessionID: "s", TranscriptPath: "t", CWD: "/project", PermissionMode: "default", AgentID: "ag", AgentType: "rev"}
	tests := []struct {
		event HookEvent
		rest  string
		want  func(*HookInput)
	}{
		{PreToolUse, `"tool_name":"add","tool_input":{"a":2},"tool_use_id":"u"`, func(in *HookInput) {
			in.ToolName, in.ToolInput, in.ToolUseID = "add", json.RawMessage(`{"a":2}`), "u"
		}},
		{PostToolUse, `"tool_name":"add","tool_response":[{"type":"text","text":"42"}],"duration_ms":14`, func(in *HookInput) {
			in.ToolName, in.ToolResponse, in.DurationMS = "add", json.RawMessage(`[{"type":"text","text":"42"}]`), 14
		}},
		{PostToolUseFailure, `"tool_name":"add","error":"bad"`, func(in *HookInput) { in.ToolName, in.Error = "add", "bad" }},
		{PostToolBatch, `"tool_calls":[{"tool_name":"add","tool_input":{},"tool_use_id":"u","tool_response":"x"}]`, func(in *HookInput) {
			in.ToolCalls = slices.Grow(in.ToolCalls, 1)[:1]
			call := &in.ToolCalls[0]
			call.ToolName, call.ToolInput, call.ToolUseID, call.ToolResponse = "add", json.RawMessage(`{}`), "u", json.RawMessage(`"x"`)
		}},
		{UserPromptSubmit, `"prompt":"hi"`, func(in *HookInput) { in.Prompt = "hi" }},
		{SubagentStop, `"stop_hook_active":true,"last_assistant_message":"done"`, func(in *HookInput) {
			in.StopHookActive, in.LastAssistantMessage = true, "done"
		}},
		{PreCompact, `"trigger":"auto","custom_instructions":null`, func(in *HookInput) { in.Trigger = "auto" }},
		{Notification, `"message":"m","title":"t","notification_type":"n"`, func(in *HookInput) {
			in.Message, in.Title, in.NotificationType = "m", "t", "n"
		}},
		{"CwdChanged", `"old_cwd":"a"`, func(*HookInput) {}},
	}
	for _, tt := range tests {
		t.Run(string(tt.event), func(t *testing.T) {
			var got *HookInput
			o := &Options{Hooks: []Hook{{Event: tt.event, Handle: func(_ context.Context, in *HookInput) (*HookOutput, error) {
				got = in
				return nil, nil
			}}}}
			raw := `{` + head + `"hook_event_name":"` + string(tt.event) + `",` + tt.rest + `}`
			if _, err := o.hook(t.Context(), json.RawMessage(`{"callback_id":"hook_0","input":`+raw+`}`))(); err != nil {
				t.Fatal(err)
			}
			want := base
			want.Event, want.Raw = tt.event, json.RawMessage(raw)
			tt.want(&want)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestHookUnknown(t *testing.T) {
	o := &Options{Logger: slog.New(slog.DiscardHandler), Hooks: []Hook{{Event: Stop}}}
	for _, request := range []string{
		`{"callback_id":"hook_1","input":{}}`, `{"callback_id":"hook_-1","input":{}}`, `{"callback_id":"other","input":{}}`,
		`{"callback_id":"hook_0","input":3}`, `{"callback_id":3}`, `{"callback_id":"hook_0"}`,
	} {
		if answer, err := o.hook(t.Context(), json.RawMessage(request))(); err == nil {
			t.Errorf("%s is answered %v", request, answer)
		}
	}
}
