package toolpost_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
)

func TestNilTool(t *testing.T) {
	tools := toolpost.Tools{nil}
	for want, ts := range map[string]toolpost.Toolset{
		"number 1: a tool: its value: it is nil": tools,
		"tool 1 of 1 is nil":                     toolpost.Prefix(tools, "x"),
	} {
		if _, err := toolpost.NewSet(t.Context(), ts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
