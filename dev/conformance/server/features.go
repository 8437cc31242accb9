package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

const watchedURI = "test://watched-resource"

// features are the fixture's prompts and resources.
func (f *fixture) Features() *toolpost.Features {
	prompts := []*toolpost.Prompt{
		prompt("test_simple_prompt", `{"description":"A prompt without arguments"}`, func(map[string]string) json.RawMessage {
			return textBlock("This is a simple prompt for testing.")
		}),
		prompt("test_prompt_with_arguments", arguments("arg1", "arg2"), func(args map[string]string) json.RawMessage {
			return textBlock(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))
		}),
		prompt("test_prompt_with_embedded_resource", arguments("resourceUri"), func(args map[string]string) json.RawMessage {
			return embedded(args["resourceUri"], "Embedded resource content for testing.").Raw
		}),
		prompt("test_prompt_with_image", `{"description":"A prompt with an image"}`, func(map[string]string) json.RawMessage {
			return object("type", "image", "mimeType", "image/png", "data", redDot())
		}),
		{Name: "test_input_required_result_prompt", Definition: json.RawMessage(`{"description":"Asks for context"}`), Get: roundsHandler(contextPrompt)},
	}
	if n := f.promptChanges.Load(); n > 0 {
		prompts = append(prompts, prompt("transient", fmt.Sprintf(`{"description":"Exists since change %d"}`, n), func(map[string]string) json.RawMessage {
			return textBlock("here")
		}))
	}
	return &toolpost.Features{
		Instructions: "A fixture for conformance tests.",
		Prompts:      prompts,
		Resources: []*toolpost.Resource{
			resource("test://static-text", "text/plain", "text", "This is the content of the static text resource."),
			resource("test://static-binary", "image/png", "blob", redDot()),
			resource(watchedURI, "text/plain", "text", "Watched resource content"),
			{URI: "test://template/{id}/data", Template: true, Definition: json.RawMessage(`{"name":"template","mimeType":"application/json"}`), Read: readTemplate},
		},
		Subscribe: func(context.Context, string, bool) error { return nil },
	}
}

// arguments is the definition of a prompt with required arguments.
func arguments(names ...string) string {
	var all []any
	for _, n := range names {
		all = append(all, json.RawMessage(object("name", n, "description", "A test argument", "required", true)))
	}
	return string(object("description", "A prompt with arguments", "arguments", all))
}

func prompt(name, definition string, content func(map[string]string) json.RawMessage) *toolpost.Prompt {
	return &toolpost.Prompt{
		Name: name, Definition: json.RawMessage(definition),
		Get: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			var args map[string]string
			if len(call.Arguments) > 0 {
				if err := json.Unmarshal(call.Arguments, &args); err != nil {
					return nil, &toolpost.ProtocolError{Code: -32602, Message: err.Error()}
				}
			}
			return messages(content(args)), nil
		},
		Complete: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.RawResult(json.RawMessage(`{"completion":{"values":[],"total":0,"hasMore":false}}`)), nil
		},
	}
}

func messages(content json.RawMessage) *toolpost.Result {
	return toolpost.RawResult(object("messages", []any{json.RawMessage(object("role", "user", "content", content))}))
}

func textBlock(text string) json.RawMessage { return object("type", "text", "text", text) }

func contextPrompt(r *rounds) (*toolpost.Result, error) {
	if text := r.accepted("user_context", "context"); text != "" {
		return messages(textBlock("Context: " + text)), nil
	}
	return ask("", map[string]json.RawMessage{"user_context": form("Please give context for the prompt", "context", "string")})
}

// resource has fixed content, in its member text or blob.
func resource(uri, mimeType, member string, content any) *toolpost.Resource {
	name := strings.TrimPrefix(uri, "test://")
	return &toolpost.Resource{
		URI: uri, Definition: object("name", name, "mimeType", mimeType),
		Read: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return contents("uri", uri, "mimeType", mimeType, member, content), nil
		},
	}
}

func contents(members ...any) *toolpost.Result {
	return toolpost.RawResult(object("contents", []any{json.RawMessage(object(members...))}))
}

func readTemplate(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(call.Name, "test://template/"), "/data")
	text := object("id", id, "templateTest", true, "data", "Data for ID: "+id)
	return contents("uri", call.Name, "mimeType", "application/json", "text", string(text)), nil
}
