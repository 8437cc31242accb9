package claude

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/message"
)

func initOf(server, status string, tools ...string) *message.Init {
	return &message.Init{Tools: tools, MCPServers: []message.MCPServer{{Name: server, Status: status}}}
}

func TestToolsDropped(t *testing.T) {
	tools := toolpost.Tools{addTool(), rawTool("div", `{"type":"object"}`, textHandler(""))}
	for _, c := range []struct {
		name string
		o    Options
		init *message.Init
		want string // the missing ones and the status
	}{
		{"all there", Options{}, initOf("tools", "connected", "Bash", "mcp__tools__add", "mcp__tools__div"), ""},
		{"one dropped", Options{}, initOf("tools", "connected", "mcp__tools__add"), "[mcp__tools__div] connected"},
		{"all dropped", Options{}, initOf("tools", "connected"), "[mcp__tools__add mcp__tools__div] connected"},
		{"failed", Options{}, initOf("tools", "failed"), "[mcp__tools__add mcp__tools__div] failed"},
		{"unknown server", Options{}, initOf("other", "connected"), "[mcp__tools__add mcp__tools__div] "},
		{"pending", Options{}, initOf("tools", "pending"), ""},
		{"switched off", Options{}, initOf("tools", "disabled"), ""},
		{"no prefix", Options{Env: []string{"CLAUDE_AGENT_SDK_MCP_NO_PREFIX=1"}}, initOf("tools", "connected", "add", "div"), ""},
		{"no prefix, dropped", Options{Env: []string{"CLAUDE_AGENT_SDK_MCP_NO_PREFIX=1"}}, initOf("tools", "connected", "add"), "[div] connected"},
		{"not permitted", Options{Args: []string{"--disallowedTools=Bash,mcp__tools__div"}}, initOf("tools", "connected", "mcp__tools__add"), ""},
		{"server not permitted", Options{DisallowedTools: []string{"Bash", "mcp__tools"}}, initOf("tools", "connected"), ""},
		{"pattern not permitted", Options{Args: []string{"--disallowedTools=mcp__tools__*"}}, initOf("tools", "connected"), ""},
		{"another is not permitted", Options{Args: []string{"--disallowedTools=mcp__tool", "--allowedTools=mcp__tools__div"}}, initOf("tools", "connected", "mcp__tools__add"), "[mcp__tools__div] connected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Toolset = tools
			cli := newFakeCLI(t, t.Context(), &c.o)
			err := cli.tools.compareTools(c.init)
			var dropped *ToolsDroppedError
			switch {
			case c.want == "" && err != nil, c.want != "" && !errors.As(err, &dropped):
				t.Fatalf("error %v, want %q", err, c.want)
			case c.want == "":
				return
			}
			if got := fmt.Sprint(dropped.Missing, " ", dropped.Status); got != c.want || dropped.Server != "tools" {
				t.Errorf("missing %s of %s, want %s", got, dropped.Server, c.want)
			}
			for _, want := range append(dropped.Missing, "AllowDropped") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %s", err, want)
				}
			}
		})
	}
}

func TestToolsDroppedAreAllowed(t *testing.T) {
	c := newFakeCLI(t, t.Context(), &Options{Toolset: toolpost.Tools{addTool()}, AllowDropped: true})
	for range 2 {
		if err := c.tools.compareTools(initOf("tools", "connected")); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(c.log.String(), "mcp__tools__add"); got != 1 {
		t.Errorf("told %d times:\n%s", got, c.log)
	}
}

// After a change of the list, the CLI's next list may still be the old one.
func TestToolsDroppedAfterAChange(t *testing.T) {
	now := toolpost.Tools{addTool()}
	s, err := NewServer(t.Context(), "live", toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return now, nil }), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	c.open("live")
	old, all := initOf("live", "connected", "mcp__live__add"), initOf("live", "connected", "mcp__live__add", "mcp__live__sub")
	arrived := func(what string, init *message.Init, wrong bool) {
		t.Helper()
		if err := c.tools.compareTools(init); (err != nil) != wrong {
			t.Errorf("%s: %v", what, err)
		}
	}
	arrived("first", old, false)
	now = toolpost.Tools{addTool(), rawTool("sub", `{"type":"object"}`, textHandler(""))}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	arrived("changed, not listed", old, false)
	c.ask("live", listLine)
	arrived("listed, told at the same time", old, false)
	arrived("told later", all, false)
	arrived("told later without it", old, true)
	now = now[1:]
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.ask("live", listLine)
	arrived("taken away", initOf("live", "connected", "mcp__live__sub"), false)
}
