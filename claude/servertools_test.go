package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
)

func init() { fakes["picked tools"] = playPickedTools }

// playPickedTools answers with the names of the tools that the server "tools" has, and
// with what those that the prompt names return.
func playPickedTools(f *fake) {
	names := toolNames(f.begin())
	l := f.must("a prompt", isUser)
	f.write(state("running"), initLine(names))
	picked := picked{Tools: names}
	for _, tool := range strings.Fields(promptText(l))[1:] {
		answer := f.call("call "+tool, "tools", tool, object{})
		picked.Said = append(picked.Said, linesOf(answer.at("response", "response", "mcp_response", "result", "content"))[0].text("text"))
	}
	f.write(result(encode(picked), object{"user_message_uuids": []any{l.text("uuid")}}), state("idle"))
}

type picked struct{ Tools, Said []string }

func letters(names ...string) toolpost.Tools {
	var tools toolpost.Tools
	for _, name := range names {
		tools = append(tools, toolpost.New(name, "Says "+name+".", func(context.Context, struct{}) (string, error) {
			return "I am " + name, nil
		}, nil))
	}
	return tools
}

func TestServerOfNamedTools(t *testing.T) {
	for _, test := range []struct {
		names  []string
		prompt string
		want   picked
	}{
		{nil, "list", picked{Tools: []string{"mcp__tools__a", "mcp__tools__b", "mcp__tools__c"}}},
		{[]string{"c", "a"}, "call a c", picked{Tools: []string{"mcp__tools__a", "mcp__tools__c"}, Said: []string{"I am a", "I am c"}}},
		{[]string{}, "list", picked{}},
	} {
		s, err := claude.NewServer(t.Context(), "", letters("a", "b", "c"), &claude.ServerOptions{Tools: test.names})
		if err != nil {
			t.Fatal(err)
		}
		o := options(t, "picked tools")
		o.Servers = []*claude.Server{s}
		response, err := claude.Do(t.Context(), test.prompt, o)
		if err != nil {
			t.Fatal(err)
		}
		var got picked
		if err := json.Unmarshal([]byte(response.Result), &got); err != nil {
			t.Fatalf("%v: %s", err, response.Result)
		}
		if !slices.Equal(got.Tools, test.want.Tools) || !slices.Equal(got.Said, test.want.Said) {
			t.Errorf("%q: got %q", test.names, got)
		}
		s.Close()
	}
}

func TestServerToolNotFound(t *testing.T) {
	tools := letters("a", "b")
	_, err := claude.NewServer(t.Context(), "", tools, &claude.ServerOptions{Tools: []string{"a", "z", "y"}})
	var missing *claude.ToolNotFoundError
	if !errors.As(err, &missing) || !slices.Equal(missing.Missing, []string{"z", "y"}) || !slices.Equal(missing.Available, []string{"a", "b"}) {
		t.Errorf("got %v", err)
	}
	if _, err := claude.NewServer(t.Context(), "", nil, &claude.ServerOptions{Tools: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "no toolset") {
		t.Errorf("no toolset: got %v", err)
	}

	list := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil })
	s, err := claude.NewServer(t.Context(), "", list, &claude.ServerOptions{Tools: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tools = letters("a")
	if err := s.Refresh(t.Context()); err != nil {
		t.Errorf("a tool that is gone later: got %v", err)
	}
}
