package retool_test

import (
	"context"
	"encoding/json"
	"github.com/toolpost/toolpost/config"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway/internal/retool"
	"github.com/toolpost/toolpost/schema"
)

func text(s string) *string { return &s }

func TestZeroBlock(t *testing.T) {
	var b config.ToolChanges
	if !b.IsZero() {
		t.Error("the zero block changes something")
	}
	b.Tools = []config.ToolChange{{Tool: "search"}}
	if b.IsZero() {
		t.Error("a block with a tool changes nothing")
	}
}

// Schemas are edited where the arguments are declared, and keep their order.
func TestSchemas(t *testing.T) {
	query := config.ArgumentChange{Argument: "q", Name: "query"}
	fixed := config.ArgumentChange{Argument: "repo", Hide: true, Default: json.RawMessage(`"x"`)}
	for name, tt := range map[string]struct {
		input, want string
		changes     []config.ArgumentChange
	}{
		"texts": {
			`{"type":"object","properties":{"q":{"type":"string","description":"old","default":"a"},"n":{}},"required":["n"]}`,
			`{"type":"object","properties":{"q":{"type":"integer","description":"new","examples":[1]},"n":{}},"required":["n","q"]}`,
			[]config.ArgumentChange{{Argument: "q", Description: text("new"), Required: true, Type: json.RawMessage(`"integer"`), Examples: json.RawMessage("[1]")}},
		},
		"a default makes optional": {
			`{"properties":{"q":{}},"required":["q"]}`, `{"properties":{"q":{"default":null}},"required":[]}`,
			[]config.ArgumentChange{{Argument: "q", Default: json.RawMessage("null")}},
		},
		"hidden definitions": {
			`{"properties":{"q":{"$ref":"#/$defs/s"},"repo":{"$ref":"#/$defs/r"}},"$defs":{"r":{"$ref":"#/$defs/u"},"s":{},"u":{}}}`,
			`{"properties":{"query":{"$ref":"#/$defs/s"}},"$defs":{"s":{}}}`,
			[]config.ArgumentChange{query, fixed},
		},
		"references to arguments": {
			`{"properties":{"q":{"type":"string"},"repo":{"type":"string"},"a":{"$ref":"#/properties/q"},"b":{"$ref":"#/properties/repo"}}}`,
			`{"properties":{"query":{"type":"string"},"a":{"$ref":"#/properties/query"},"b":{"$ref":"#/$defs/hidden_repo"}},"$defs":{"hidden_repo":{"type":"string"}}}`,
			[]config.ArgumentChange{query, fixed},
		},
		"a root that refers": {
			`{"type":"object","$ref":"#/$defs/args","$defs":{"args":{"properties":{"q":{},"repo":{}},"required":["q","repo"]}}}`,
			`{"type":"object","properties":{"query":{}},"required":["query"]}`,
			[]config.ArgumentChange{query, fixed},
		},
		"alternatives": {
			`{"properties":{"q":{},"repo":{}},"anyOf":[{"required":["q"]},{"required":["repo"]}],"dependentRequired":{"q":["repo"]}}`,
			`{"properties":{"query":{}},"anyOf":[{"required":["query"]},false],"dependentRequired":{"query":[]}}`,
			[]config.ArgumentChange{query, {Argument: "repo", Hide: true}},
		},
	} {
		tool := echo("t", tt.input)
		tools, findings := retool.New(config.ToolChanges{Tools: []config.ToolChange{{Tool: "t", Arguments: tt.changes}}}).Apply([]*toolpost.Tool{tool}, true)
		if got := string(tools[0].Input.Raw()); got != tt.want || len(findings) > 0 {
			t.Errorf("%s: %v\n got %s\nwant %s", name, findings, got, tt.want)
		}
		if string(tool.Input.Raw()) != tt.input {
			t.Errorf("%s: the tool itself has changed", name)
		}
	}
}

// A change that cannot be applied is reported with a hint, and changes nothing.
func TestFindings(t *testing.T) {
	input := `{"type":"object","properties":{"path":{},"mode":{}},"required":["path"]}`
	for name, tt := range map[string]struct {
		change config.ToolChange
		want   string
	}{
		"no such tool":         {config.ToolChange{Tool: "raed"}, `did you mean "read"?`},
		"no such argument":     {config.ToolChange{Tool: "read", Arguments: []config.ArgumentChange{{Argument: "pth"}}}, `did you mean "path"?`},
		"hidden and required":  {config.ToolChange{Tool: "read", Arguments: []config.ArgumentChange{{Argument: "path", Hide: true}}}, `hidden only with a "default"`},
		"an argument's name":   {config.ToolChange{Tool: "read", Arguments: []config.ArgumentChange{{Argument: "path", Name: "mode"}}}, `both be called "mode"`},
		"the name of the tool": {config.ToolChange{Tool: "read", Name: "write"}, "another tool has that name"},
	} {
		tools, findings := retool.New(config.ToolChanges{Tools: []config.ToolChange{tt.change}}).Apply([]*toolpost.Tool{echo("read", input), echo("write", input)}, true)
		if len(findings) != 1 || !strings.Contains(findings[0].Message, tt.want) {
			t.Errorf("%s: findings %v, want %s", name, findings, tt.want)
		}
		if len(tools) != 2 || tools[0].Name != "read" || string(tools[0].Input.Raw()) != input {
			t.Errorf("%s: the tool is %s %s", name, tools[0].Name, tools[0].Input.Raw())
		}
	}
}

// Errors name the arguments as the client knows them, and no value gets past what
// is hidden.
func TestErrors(t *testing.T) {
	tool := echo("t", `{"type":"object","properties":{"q":{"type":"string"},"repo":{"type":"string"}},"required":["q","repo"]}`)
	tool.Policy.SkipValidation = false // as a tool of this process
	block := config.ToolChanges{Tools: []config.ToolChange{{Tool: "t", Name: "find", Arguments: []config.ArgumentChange{
		{Argument: "q", Name: "query"}, {Argument: "repo", Hide: true, Default: json.RawMessage(`"mine"`)},
	}}}}
	tools, _ := retool.New(block).Apply([]*toolpost.Tool{tool}, true)
	for arguments, want := range map[string]string{
		`{"query":5}`:                   "invalid arguments for find:\n/query: expected string, got integer 5",
		`{}`:                            "/query: expected",
		`{"query":"a","repo":"theirs"}`: "/repo: unknown argument; valid names: query",
		`{"query":"a","REPO":"theirs"}`: "/REPO: unknown argument",
		`{"q":"a"}`:                     "/q: unknown argument; valid names: query",
		`{"query":"a"}`:                 `t {"q":"a","repo":"mine"}`,
	} {
		if got := received(t, tools[0], arguments); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s in it", arguments, got, want)
		}
	}
}

// A tool that is listed again is the same, and a name may be passed on.
func TestListedAgain(t *testing.T) {
	a, b := echo("a", `{}`), echo("b", `{}`)
	b.Meta = json.RawMessage(`{"fastmcp":{"tags":["old"]}}`)
	r := retool.New(config.ToolChanges{ExcludeTags: []string{"old"}, Tools: []config.ToolChange{
		{Tool: "a", Name: "b", Description: text("new"), Annotations: &toolpost.Annotations{Title: "A"}, Meta: json.RawMessage(`{"x":1}`)},
		{Tool: "b", Name: "a", Tags: []string{"new"}},
	}})
	first, findings := r.Apply([]*toolpost.Tool{a, b}, true)
	second, _ := r.Apply([]*toolpost.Tool{a, b}, true)
	if len(findings) > 0 || len(first) != 2 || first[0].Name != "b" || first[1].Name != "a" || first[0] != second[0] || first[1] != second[1] {
		t.Errorf("%v: %v and %v", findings, first, second)
	}
	raw, err := first[0].Definition.MarshalJSON()
	if err != nil || string(raw) != `{"name":"b","description":"new","inputSchema":{},"annotations":{"title":"A"},"_meta":{"x":1}}` {
		t.Errorf("%s, %v", raw, err)
	}
	if got := received(t, first[0], `{"x":1}`); got != `a {"x":1}` {
		t.Errorf("the server gets %s", got)
	}
	alone, _ := retool.New(config.ToolChanges{IncludeTags: []string{"old"}}).Apply([]*toolpost.Tool{a, b}, true)
	if len(alone) != 1 || alone[0] != b {
		t.Errorf("with the tag: %v", alone)
	}
}

// A server takes null as no arguments; the defaults of arguments that clients do
// not see count then too.
func TestNullArguments(t *testing.T) {
	input, err := schema.Parse([]byte(`{"type":"object","properties":{"repo":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "t", Input: input}, Policy: toolpost.Policy{SkipValidation: true}}
	tool.Handler = func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		got = string(call.Arguments)
		return toolpost.NewResult(), nil
	}
	fixed := []config.ArgumentChange{{Argument: "repo", Hide: true, Default: json.RawMessage(`"x"`)}}
	tools, _ := retool.New(config.ToolChanges{Tools: []config.ToolChange{{Tool: "t", Arguments: fixed}}}).Apply([]*toolpost.Tool{tool}, true)
	for _, arguments := range []string{"", "{}", "null", " null "} {
		got = ""
		if _, err := tools[0].Run(t.Context(), &toolpost.Call{Name: "t", Arguments: json.RawMessage(arguments)}); err != nil || got != `{"repo":"x"}` {
			t.Errorf("%q: the tool gets %s, %v", arguments, got, err)
		}
	}
}
