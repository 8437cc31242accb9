package suggest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/internal/suggest"
)

func TestNames(t *testing.T) {
	names := []string{"everything__echo", "everything__add", "read", "grep", "memory__read_graph", "data0", "data1"}
	tests := []struct {
		name string
		want []string
	}{
		{"echo", []string{"everything__echo"}},
		{"raed", []string{"read"}},
		{"read", []string{"read", "memory__read_graph"}},
		{"xyzzy", nil},
		{"Grep", []string{"grep"}},
		{"DATA1", []string{"data1", "data0"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, suggest.Names(tt.name, names, 3)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestMisspelled(t *testing.T) {
	names := []string{"PreToolUse", "TaskCreated", "low", "max"}
	for name, want := range map[string]string{
		"PreToolUsed": "PreToolUse", "pre_tool_use": "PreToolUse", "PreTolUse": "PreToolUse", "PreToolUes ": "PreToolUse", "lwo": "low", "LOW": "low",
		"PostToolUse": "", "TaskUpdated": "", "PreTool": "", "mid": "", "": "", "TaskCreatedByAnotherSessionOfTheSameUserOrNot": "",
	} {
		if got := suggest.Misspelled(name, names); got != want {
			t.Errorf("%s is read as %q, want %q", name, got, want)
		}
	}
}
