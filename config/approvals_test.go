package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
)

func TestApprovals(t *testing.T) {
	cfg := load(t, t.TempDir(), `{"mcpServers": {}, "profiles": {"p": {"approvals": [{"action": "deny"}]}}, "approvals": [
		{"action": "ask", "servers": ["git*"], "tools": ["push"], "reason": "it publishes",
		 "annotations": {"readOnly": false, "openWorld": true}, "arguments": {"path": "/etc/*", "/a/b": {"regexp": "^x$"}}},
	]}`)
	no, yes := false, true
	want := []config.ApprovalList{{Name: "approvals", Rules: []config.ApprovalRule{{
		Action: "ask", Servers: []string{"git*"}, Tools: []string{"push"}, Reason: "it publishes",
		Annotations: config.Claims{ReadOnly: &no, OpenWorld: &yes},
		Arguments:   []config.ApprovalArgument{{Name: "path", Pattern: "/etc/*"}, {Name: "/a/b", Pattern: "^x$", Regexp: true}},
	}}}}
	if diff := cmp.Diff(want, cfg.Approvals); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]config.ApprovalList{{Name: "profiles.p.approvals", Rules: []config.ApprovalRule{{Action: "deny"}}}}, cfg.Profiles[0].Approvals); diff != "" {
		t.Error(diff)
	}
}

// A rule that may mean something else than its author thinks is a mistake of the file.
func TestApprovalMistakes(t *testing.T) {
	for rule, want := range map[string]string{
		`{}`:                                 `approvals[0]: the action is ""; want "allow", "ask" or "deny"`,
		`{"action": "Deny"}`:                 `approvals[0]: the action is "Deny"`,
		`{"action": "block"}`:                `the action is "block"`,
		`{"action": "deny", "tool": ["x"]}`:  `unknown key "tool" in approvals[0]; did you mean "tools"?`,
		`{"action": "deny", "tools": []}`:    `approvals[0].tools is empty`,
		`{"action": "deny", "servers": "x"}`: `approvals[0].servers is`,
		`{"action": "deny", "annotations": {"readOnlyHint": 1}}`:  `unknown key "readOnlyHint" in approvals[0].annotations; did you mean "readOnly"?`,
		`{"action": "deny", "arguments": {"p": {}}}`:              `approvals[0].arguments.p is empty`,
		`{"action": "deny", "arguments": {"p": 1}}`:               `approvals[0].arguments.p is`,
		`{"action": "deny", "arguments": {"p": {"regexp": "("}}}`: `approvals[0]: argument "p": error parsing regexp`,
		`"deny"`: `approvals[0] is`,
	} {
		_, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {}, "approvals": [`+rule+`]}`), lookup(""))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", rule, err, want)
		}
	}
}
