package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/sdk/mcp"
)

func callSDKTool(t *testing.T, tool *toolpost.Tool, err error, arguments string) (string, error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{
		Name: tool.Name, Arguments: json.RawMessage(arguments), Params: json.RawMessage(`{"_meta":{"k":7}}`),
	})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(r)
	return string(raw), err
}

func TestNew(t *testing.T) {
	def := &sdk.Tool{
		Name: "echo", Title: "Echo", Description: "Says it again.",
		InputSchema: json.RawMessage(`{"type":"object","required":["b","a"]}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}
	tool, err := mcp.New(def, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		switch req.Params.Name {
		case "echo":
			text := string(req.Params.Arguments)
			if req.Params.Meta["k"] != 7.0 {
				text = "no _meta"
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}, nil
		}
		return nil, errors.New("another name")
	})
	got, err := callSDKTool(t, tool, err, `{"b":9007199254740993,"a":1}`)
	if want := `{"content":[{"type":"text","text":"{\"b\":9007199254740993,\"a\":1}"}],"isError":true}`; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if string(tool.Input.Raw()) != `{"type":"object","required":["b","a"]}` || tool.Title != "Echo" || !*tool.Annotations.ReadOnly {
		t.Errorf("definition %+v", tool.Definition)
	}
}

func TestErrors(t *testing.T) {
	def := &sdk.Tool{Name: "x", InputSchema: map[string]any{"type": "object"}}
	fail := func(err error) error {
		tool, e := mcp.New(def, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, err })
		_, err = callSDKTool(t, tool, e, ``)
		return err
	}
	var protocol *toolpost.ProtocolError
	if err := fail(errors.New("no luck")); !errors.As(err, &protocol) || protocol.Code != jsonrpc.CodeInternalError || protocol.Message != "no luck" {
		t.Errorf("got %v", err)
	}
	if err := fail(&jsonrpc.Error{Code: -32002, Message: "gone", Data: json.RawMessage(`1`)}); !errors.As(err, &protocol) ||
		protocol.Code != -32002 || string(protocol.Data) != "1" {
		t.Errorf("got %v", err)
	}
	for name, test := range map[string]struct {
		tool  *sdk.Tool
		field string
	}{
		"no name":       {&sdk.Tool{InputSchema: map[string]any{"type": "object"}}, "name"},
		"no schema":     {&sdk.Tool{Name: "x"}, "schema"},
		"list schema":   {&sdk.Tool{Name: "x", InputSchema: []int{1}}, "schema"},
		"array schema":  {&sdk.Tool{Name: "x", InputSchema: map[string]any{"type": "array"}}, "schema"},
		"output schema": {&sdk.Tool{Name: "x", InputSchema: map[string]any{"type": "object"}, OutputSchema: 7}, "schema"},
		"no handler":    {def, "function"},
	} {
		h := func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil }
		if test.field == "function" {
			h = nil
		}
		var invalid *toolpost.ToolValidationError
		if _, err := mcp.New(test.tool, h); !errors.As(err, &invalid) || invalid.Field != test.field {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFor(t *testing.T) {
	type in struct {
		A int `json:"a"`
	}
	type out struct {
		Sum int `json:"sum"`
	}
	def := &sdk.Tool{Name: "add"}
	tool, err := mcp.For(def, func(_ context.Context, req *sdk.CallToolRequest, in in) (*sdk.CallToolResult, out, error) {
		if in.A < 0 {
			return nil, out{}, errors.New("too small")
		}
		return nil, out{in.A + 1}, nil
	})
	for arguments, want := range map[string]string{
		`{"a":1}`:  `{"content":[{"type":"text","text":"{\"sum\":2}"}],"structuredContent":{"sum":2}}`,
		`{"a":-1}`: `{"content":[{"type":"text","text":"too small"}],"isError":true}`,
	} {
		if got, err := callSDKTool(t, tool, err, arguments); got != want || err != nil {
			t.Errorf("%s: got %s, %v", arguments, got, err)
		}
	}
	if got, err := callSDKTool(t, tool, err, `{"a":"x"}`); err != nil || !strings.Contains(got, "/a: expected") {
		t.Errorf("wrong arguments: got %s, %v", got, err)
	}
	if def.InputSchema != nil || tool.Output == nil {
		t.Errorf("schemas: %v, %v", def.InputSchema, tool.Output)
	}
	open, err := mcp.For(&sdk.Tool{Name: "open"}, func(context.Context, *sdk.CallToolRequest, any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "x"}}}, nil, nil
	})
	if got, err := callSDKTool(t, open, err, `{}`); got != `{"content":[{"type":"text","text":"x"}]}` || err != nil {
		t.Errorf("open: got %s, %v", got, err)
	}
}
