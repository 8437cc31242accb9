package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// The result of a tool, or of another method, is not served as an empty prompt,
// resource or completion: the client gets an error, and the log says why.
func TestResultOfAnotherMethod(t *testing.T) {
	raw := func(s string) *toolpost.Result { return toolpost.RawResult(json.RawMessage(s)) }
	structured, err := toolpost.JSONResult(map[string]any{"messages": []any{}, "contents": []any{}, "completion": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, result := range map[string]*toolpost.Result{
		"text":            toolpost.TextResult("Say hello."),
		"nothing":         nil,
		"value":           structured,
		"failed":          toolpost.Failed.Resultf("the disk is full"),
		"raw tool result": raw(`{"content":[{"type":"text","text":"a"}]}`),
		"raw task result": raw(`{"structuredContent":{"a":1}}`),
		"strings":         raw(`{"messages":"hello","contents":"hello","completion":["a"]}`),
		"of no use":       raw(`{"messages":[{"role":"user"}],"contents":[{"uri":"x://1"}],"completion":{"values":[1]}}`),
		"one message":     raw(`{"messages":{"role":"user","content":{"type":"text","text":"a"}},"contents":[5],"completion":{"values":"a"}}`),
	} {
		t.Run(name, func(t *testing.T) { refusesEveryWay(t, result) })
	}
}

func refusesEveryWay(t *testing.T, result *toolpost.Result) {
	t.Helper()
	give := func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return result, nil }
	features := &toolpost.Features{
		Prompts:   []*toolpost.Prompt{{Name: "p", Get: give, Complete: give}},
		Resources: []*toolpost.Resource{{URI: "x://1", Read: give}},
	}
	everyWay(t, func(t *testing.T, w way) {
		var logged syncBuffer
		s := serve(t, &mcpserver.Options{Logger: logger(&logged)})
		s.SetFeatures(features)
		session := w.connect(t, s, nil)
		_, errPrompt := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p"})
		_, errResource := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "x://1"})
		_, errCompletion := session.Complete(t.Context(), &mcp.CompleteParams{
			Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "p"}, Argument: mcp.CompleteParamsArgument{Name: "a"}})
		for method, err := range map[string]error{"prompts/get": errPrompt, "resources/read": errResource, "completion/complete": errCompletion} {
			fault, ok := errors.AsType[*jsonrpc.Error](err)
			if !ok || fault.Code != jsonrpc.CodeInternalError {
				t.Errorf("%s: %v, want an internal error", method, err)
				continue
			}
			if text := "the disk is full"; result != nil && result.IsError() && fault.Message != text {
				t.Errorf("%s: %q, want %q", method, fault.Message, text)
			}
			if !strings.Contains(logged.String(), "kind="+method) {
				t.Errorf("%s: not logged: %s", method, logged.String())
			}
		}
	})
}

// Prompts and resources that Go functions make are valid for the official client.
func TestTypedFeatures(t *testing.T) {
	type letter struct {
		To string `json:"to"`
	}
	complete := func(context.Context, string, string, map[string]string) ([]string, error) {
		return []string{"Ada"}, nil
	}
	features := &toolpost.Features{
		Prompts: []*toolpost.Prompt{toolpost.NewPrompt("letter", func(_ context.Context, in letter) (string, error) {
			return "Write to " + in.To, nil
		}, &toolpost.FeatureOptions{Complete: complete})},
		Resources: []*toolpost.Resource{
			toolpost.NewResource("x://1", "", func(context.Context, string) ([]byte, error) { return []byte{1}, nil }, nil),
			toolpost.NewResource("x://t/{id}", "", func(_ context.Context, uri string) (string, error) { return uri, nil }, nil),
		},
	}
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil)
		s.SetFeatures(features)
		session := w.connect(t, s, nil)
		prompts, err := session.ListPrompts(t.Context(), nil)
		if err != nil || len(prompts.Prompts) != 1 || !prompts.Prompts[0].Arguments[0].Required {
			t.Errorf("prompts: %+v, %v", prompts, err)
		}
		p, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "letter", Arguments: map[string]string{"to": "Ada"}})
		if err != nil || len(p.Messages) != 1 || p.Messages[0].Content.(*mcp.TextContent).Text != "Write to Ada" {
			t.Errorf("prompt: %+v, %v", p, err)
		}
		_, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "letter"})
		if fault, ok := errors.AsType[*jsonrpc.Error](err); !ok || fault.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("without its argument: %v", err)
		}
		for uri, want := range map[string]string{"x://1": "\x01", "x://t/7": "x://t/7"} {
			r, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || len(r.Contents) != 1 || r.Contents[0].Text+string(r.Contents[0].Blob) != want {
				t.Errorf("%s: %+v, %v", uri, r, err)
			}
		}
		c, err := session.Complete(t.Context(), &mcp.CompleteParams{
			Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "letter"}, Argument: mcp.CompleteParamsArgument{Name: "to"}})
		if err != nil || len(c.Completion.Values) != 1 {
			t.Errorf("completion: %+v, %v", c, err)
		}
	})
}
