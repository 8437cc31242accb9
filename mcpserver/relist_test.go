package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// A tool that was added unseen is listed for a client that begins, and can be called by
// one that began before.
func TestToolsAddedUnseen(t *testing.T) {
	var src *source
	var asked []string
	s := serve(t, &mcpserver.Options{Views: &hooks{relist: func(_ context.Context, _ observe.Client, tool string) bool {
		asked = append(asked, tool)
		src.mu.Lock()
		defer src.mu.Unlock()
		switch {
		case tool == "late":
			src.tools = append(src.tools[:len(src.tools):len(src.tools)], textTool("late", "found"))
		case tool == "" && len(asked) > 2:
			src.tools = append(src.tools[:len(src.tools):len(src.tools)], textTool("later", "found"))
		}
		return tool == "late" || tool == "" && len(asked) > 2
	}}}, textTool("t", "x"))
	src = s.tools
	session := s.session(t)
	if e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late"}}`, session); !strings.Contains(e.body, "found") {
		t.Errorf("got %s", e.body)
	}
	if e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"typo"}}`, session); !strings.Contains(e.body, "unknown tool") {
		t.Errorf("got %s", e.body)
	}
	session = s.session(t)
	if e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session); !strings.Contains(e.body, `"name":"later"`) {
		t.Errorf("got %s", e.body)
	}
	if got := strings.Join(asked, ","); got != ",late,typo," {
		t.Errorf("asked for %q", got)
	}
}
