package claude

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const canUseTool = `{"subtype":"can_use_tool","tool_name":"mcp__calc__add","mcp_server":{"name":"calc","source":"sdk"},
	"display_name":"Add","input":{"a":2},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"mcp__calc__add"}],
	"behavior":"allow","destination":"localSettings"}],"tool_use_id":"toolu_01","blocked_path":"/etc","decision_reason":"why",
	"decision_reason_type":"rule","agent_id":"ag","title":"Add?","description":"adds","server_policy_ask_only":true}`

func TestPermission(t *testing.T) {
	rule := PermissionUpdate{Type: "addRules", Rules: []PermissionRule{{ToolName: "Read"}}, Behavior: "allow", Destination: "session"}
	tests := []struct {
		name string
		give func() (*Decision, error)
		want string
	}{
		{"allow", func() (*Decision, error) { return &Decision{Allow: true}, nil },
			`{"behavior":"allow","updatedInput":{"a":2},"toolUseID":"toolu_01"}`},
		{"allow something else", func() (*Decision, error) {
			return &Decision{Allow: true, Input: json.RawMessage(`{"a":40}`), Updates: []PermissionUpdate{rule}}, nil
		}, `{"behavior":"allow","updatedInput":{"a":40},"toolUseID":"toolu_01","updatedPermissions":[
			{"type":"addRules","rules":[{"toolName":"Read"}],"behavior":"allow","destination":"session"}]}`},
		{"allow no object", func() (*Decision, error) { return &Decision{Allow: true, Input: json.RawMessage(`[1]`)}, nil },
			`{"behavior":"deny","message":"the arguments from the permission callback are not a JSON object","toolUseID":"toolu_01"}`},
		{"deny", func() (*Decision, error) { return &Decision{Message: "No sums today."}, nil },
			`{"behavior":"deny","message":"No sums today.","toolUseID":"toolu_01"}`},
		{"deny without a reason", func() (*Decision, error) { return &Decision{}, nil },
			`{"behavior":"deny","message":"The user does not allow this call.","toolUseID":"toolu_01"}`},
		{"deny and interrupt", func() (*Decision, error) { return &Decision{Message: "Stop.", Interrupt: true}, nil },
			`{"behavior":"deny","message":"Stop.","interrupt":true,"toolUseID":"toolu_01"}`},
		{"nil", func() (*Decision, error) { return nil, nil },
			`{"behavior":"deny","message":"The user does not allow this call.","toolUseID":"toolu_01"}`},
		{"error", func() (*Decision, error) { return &Decision{Allow: true}, errors.New("the door is shut") },
			`{"behavior":"deny","message":"the door is shut","toolUseID":"toolu_01"}`},
		{"panic", func() (*Decision, error) { panic("oh") },
			`{"behavior":"deny","message":"the callback panicked: oh","toolUseID":"toolu_01"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &Options{Logger: slog.New(slog.DiscardHandler), Permission: func(context.Context, *PermissionRequest) (*Decision, error) { return tt.give() }}
			answer, err := o.permit(t.Context(), json.RawMessage(canUseTool))()
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, answer, tt.want)
		})
	}
}

func TestPermissionRequest(t *testing.T) {
	var got *PermissionRequest
	o := &Options{Permission: func(_ context.Context, r *PermissionRequest) (*Decision, error) {
		got = r
		return nil, nil
	}}
	if _, err := o.permit(t.Context(), json.RawMessage(canUseTool))(); err != nil {
		t.Fatal(err)
	}
	want := &PermissionRequest{
		ToolName: "mcp__calc__add", Input: json.RawMessage(`{"a":2}`), ToolUseID: "toolu_01", AgentID: "ag", Title: "Add?",
		DisplayName: "Add", Description: "adds", BlockedPath: "/etc", DecisionReason: "why", DecisionReasonType: "rule",
		Suggestions: []PermissionUpdate{{Type: "addRules", Rules: []PermissionRule{{ToolName: "mcp__calc__add"}}, Behavior: "allow", Destination: "localSettings"}},
		Raw:         json.RawMessage(canUseTool),
	}
	want.Server.Name, want.Server.Source = "calc", "sdk"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPermissionUnasked(t *testing.T) {
	o := &Options{Logger: slog.New(slog.DiscardHandler)}
	for request, want := range map[string]string{
		canUseTool:            `{"behavior":"deny","message":"nobody can allow it","toolUseID":"toolu_01"}`,
		`{"tool_use_id":"x"}`: `{"behavior":"deny","message":"nobody can allow it","toolUseID":"x"}`,
	} {
		answer, err := o.permit(t.Context(), json.RawMessage(request))()
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, answer, want)
	}
	o.Permission = allowAll
	answer, err := o.permit(t.Context(), json.RawMessage(`{"tool_name":7,"input":{}}`))()
	if a, ok := answer.(*permissionAnswer); err != nil || !ok || a.Behavior != "deny" || !strings.Contains(a.Message, "read the permission request") {
		t.Errorf("a malformed request is answered %+v, %v", answer, err)
	}
}

// TestRestrict: tool_parameter_restrictions of requirement 1.
func TestRestrict(t *testing.T) {
	asked := 0
	o := &Options{
		Logger:   slog.New(slog.DiscardHandler),
		Restrict: map[string]map[string]any{"Bash": {"run_in_background": false, "timeout": 1000, "tags": []string{"a"}, "limit": int64(9007199254740992)}},
		Permission: func(_ context.Context, r *PermissionRequest) (*Decision, error) {
			asked++
			return &Decision{Allow: true, Input: r.Input}, nil
		},
	}
	tests := []struct {
		tool, input, want string // want is "" if it may run
	}{
		{"Bash", `{"command":"ls"}`, ""},
		{"Bash", `{"command":"ls","run_in_background":false,"timeout":1e3,"tags":["a"]}`, ""},
		{"Bash", `{"run_in_background":true}`, `The parameter "run_in_background" of Bash must be false here. Call it again with that value, or without the parameter.`},
		{"Bash", `{"run_in_background":null}`, `The parameter "run_in_background" of Bash must be false here. Call it again with that value, or without the parameter.`},
		{"Bash", `{"tags":["b"]}`, `The parameter "tags" of Bash must be ["a"] here. Call it again with that value, or without the parameter.`},
		{"Bash", `{"limit":9007199254740992}`, ""},
		{"Bash", `{"limit":9007199254740993}`, `The parameter "limit" of Bash must be 9007199254740992 here. Call it again with that value, or without the parameter.`},
		{"Bash", `{"limit":1e999999999}`, `The parameter "limit" of Bash must be 9007199254740992 here. Call it again with that value, or without the parameter.`},
		{"Bash", `[]`, `The arguments of Bash are not a JSON object.`},
		{"Edit", `{"run_in_background":true}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.tool+tt.input, func(t *testing.T) {
			asked = 0
			request := `{"tool_name":"` + tt.tool + `","input":` + tt.input + `}`
			answer, err := o.permit(t.Context(), json.RawMessage(request))()
			if err != nil {
				t.Fatal(err)
			}
			hook, err := o.hook(t.Context(), json.RawMessage(`{"callback_id":"restrict","input":{"hook_event_name":"PreToolUse","tool_name":"`+tt.tool+`","tool_input":`+tt.input+`}}`))()
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				sameJSON(t, answer, `{"behavior":"allow","updatedInput":`+tt.input+`}`)
				sameJSON(t, hook, `{}`)
				return
			}
			why, _ := json.Marshal(tt.want)
			sameJSON(t, answer, `{"behavior":"deny","message":`+string(why)+`}`)
			sameJSON(t, hook, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":`+string(why)+`}}`)
			if asked > 0 {
				t.Error("the permission was asked about what is refused anyway")
			}
		})
	}
	o.Permission = func(context.Context, *PermissionRequest) (*Decision, error) {
		return &Decision{Allow: true, Input: json.RawMessage(`{"run_in_background":true}`)}, nil
	}
	answer, _ := o.permit(t.Context(), json.RawMessage(`{"tool_name":"Bash","input":{}}`))()
	if a, ok := answer.(*permissionAnswer); !ok || a.Behavior != "deny" {
		t.Errorf("a permission that gives a refused value is answered %+v", answer)
	}
}
