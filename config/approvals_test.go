package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/policy/approval"
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

// While serve runs, a changed file can make rules stricter at once. What may loosen
// them waits: until then, the old rules hold beside the new ones.
func TestGuardOfApprovals(t *testing.T) {
	const before = `[{"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`
	for name, tt := range map[string]struct {
		rules string
		waits bool
	}{
		"the same":                 {before, false},
		"one more denial":          {`[{"action": "deny", "tools": ["x"]}, {"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`, false},
		"none":                     {`[]`, true},
		"one less":                 {`[{"action": "deny", "tools": ["rm"]}]`, true},
		"an exception":             {`[{"action": "allow", "arguments": {"p": "x"}}, {"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`, true},
		"a question before denial": {`[{"action": "ask"}, {"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`, true},
		"less is denied":           {`[{"action": "deny", "tools": ["rm"], "servers": ["a"]}, {"action": "ask", "tools": ["push"]}]`, true},
	} {
		for _, place := range []string{"approvals", "profiles.p.approvals"} {
			dir := t.TempDir()
			file := func(rules string) *config.Config {
				if place == "approvals" {
					return load(t, dir, `{"mcpServers": {}, "approvals": `+rules+`}`)
				}
				return load(t, dir, `{"mcpServers": {}, "profiles": {"p": {"approvals": `+rules+`}}}`)
			}
			old := file(before)
			g := config.NewGuard(old)
			next := file(tt.rules)
			got, waiting := g.Admit(old, next, "run it")
			lists := got.Approvals
			if place != "approvals" {
				lists = got.Profiles[0].Approvals
			}
			p, err := config.Policy(lists)
			if err != nil {
				t.Fatal(err)
			}
			for tool, want := range map[string]approval.Action{"rm": "deny", "push": "ask"} {
				if d := p.Decide(t.Context(), approval.Target{Server: "s", Tool: tool}, []byte(`{"p":"x"}`)); d.Action != want {
					t.Errorf("%s, %s: %s is %v", name, place, tool, d)
				}
			}
			if (len(waiting) == 1 && waiting[0] == place) != tt.waits || len(waiting) > 1 || (len(got.Findings) > 0) != tt.waits {
				t.Errorf("%s, %s: waiting %q, findings %v", name, place, waiting, got.Findings)
			}
			g.Approve(next)
			if got, waiting := g.Admit(old, next, ""); len(waiting) > 0 || !reflect.DeepEqual(got.Approvals, next.Approvals) {
				t.Errorf("%s, %s: after the approval: waiting %q", name, place, waiting)
			}
		}
	}
	old := load(t, t.TempDir(), `{"mcpServers": {}}`)
	if _, waiting := config.NewGuard(old).Admit(old, load(t, t.TempDir(), `{"mcpServers": {}, "approvals": `+before+`}`), ""); len(waiting) > 0 {
		t.Errorf("the first rules wait: %q", waiting)
	}
}
