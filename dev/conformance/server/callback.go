package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
)

// callbackTools talk to their caller while they run.
func callbackTools() []*toolpost.Tool {
	return []*toolpost.Tool{
		toolpost.New("test_tool_with_logging", "Logs three messages", withLogging, nil),
		toolpost.New("test_tool_with_progress", "Reports progress", withProgress, nil),
		toolpost.New("test_streaming_elicitation", "Reports progress and asks nothing", withProgress, nil),
		toolpost.New("test_logging_tool", "Logs one message", func(ctx context.Context, _ none) (string, error) {
			return "logged, if the client wants it", toolpost.CallFrom(ctx).Log(ctx, "info", "fixture", "one message")
		}, nil),
		toolpost.New("test_sampling", "Asks the client's model", sample, nil),
		toolpost.New("test_elicitation", "Asks the user", func(ctx context.Context, in elicitInput) (string, error) {
			return elicit(ctx, in.Message, `{"type":"object","properties":{
				"username":{"type":"string","description":"User's response"},
				"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`)
		}, nil),
		toolpost.New("test_elicitation_sep1034_defaults", "Asks with defaults", func(ctx context.Context, _ none) (string, error) {
			return elicit(ctx, "Please review the defaults", defaultsForm)
		}, nil),
		toolpost.New("test_elicitation_sep1330_enums", "Asks with enums", func(ctx context.Context, _ none) (string, error) {
			return elicit(ctx, "Please choose", enumsForm)
		}, nil),
	}
}

func withLogging(ctx context.Context, _ none) (string, error) {
	for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := toolpost.CallFrom(ctx).Log(ctx, "info", "fixture", text); err != nil {
			return "", err
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
	return "Tool with logging executed successfully", nil
}

func withProgress(ctx context.Context, _ none) (string, error) {
	for done := 0.0; done <= 100; done += 50 {
		text := fmt.Sprintf("Completed step %.0f of 100", done)
		if err := toolpost.CallFrom(ctx).Progress(ctx, done, 100, text); err != nil {
			return "", err
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
	return "Tool with progress executed successfully", nil
}

type sampleInput struct {
	Prompt string `json:"prompt" description:"What to ask the model"`
}

func sample(ctx context.Context, in sampleInput) (string, error) {
	var answer struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	err := toolpost.CallFrom(ctx).Ask(ctx, "sampling/createMessage", question(in.Prompt), &answer)
	return "LLM response: " + answer.Content.Text, err
}

// question is the params object of a request for sampling.
func question(prompt string) json.RawMessage {
	return object("maxTokens", 100, "messages", []any{
		json.RawMessage(object("role", "user", "content", json.RawMessage(object("type", "text", "text", prompt)))),
	})
}

type elicitInput struct {
	Message string `json:"message" description:"What to ask the user"`
}

func elicit(ctx context.Context, message, form string) (string, error) {
	var answer struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	params := object("message", message, "requestedSchema", json.RawMessage(form))
	err := toolpost.CallFrom(ctx).Ask(ctx, "elicitation/create", params, &answer)
	return fmt.Sprintf("Elicitation completed: action=%s, content=%s", answer.Action, answer.Content), err
}

const defaultsForm = `{"type":"object","properties":{
	"name":{"type":"string","description":"User name","default":"John Doe"},
	"age":{"type":"integer","description":"User age","default":30},
	"score":{"type":"number","description":"User score","default":95.5},
	"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
	"verified":{"type":"boolean","description":"Verification status","default":true}},"required":[]}`

const enumsForm = `{"type":"object","properties":{
	"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
	"titledSingle":{"type":"string","oneOf":[
		{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
	"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
	"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
	"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[
		{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},
	"required":[]}`
