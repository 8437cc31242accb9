package claudecli

import (
	"context"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/model"
)

// TestToolsAreAdaptedOnce starts two requests of one set.
func TestToolsAreAdaptedOnce(t *testing.T) {
	tool := toolpost.New("look_up", "Looks something up.", func(context.Context, struct{ Name string }) (string, error) {
		return "", nil
	}, nil)
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	m := New("sonnet", nil)
	var adapted [2]*toolset
	for i := range adapted {
		c, err := m.newConversation(t.Context(), &model.Request{Tools: set})
		if err != nil {
			t.Fatal(err)
		}
		adapted[i] = c.tools
	}
	if adapted[0] != adapted[1] {
		t.Error("the tools were adapted twice")
	}
	name := adapted[0].served[0].Name
	if p := adapted[0].call(&message.ToolUse{Name: "mcp__tools__" + name, Input: []byte(`{"Name":"x"}`)}); p.Name != "look_up" || p.Invalid != "" {
		t.Errorf("the call is %+v", p)
	}
	if p := adapted[0].call(&message.ToolUse{Name: name}); p.Invalid == "" {
		t.Error("a call that the CLI answers by itself can run")
	}
}
