package main

import (
	"context"
	"errors"
	"fmt"

	severity1 "github.com/severity1/claude-agent-sdk-go"
)

func runSeverity1(ctx context.Context, j *job) (text string, err error) {
	opts := []severity1.Option{severity1.WithModel(model), severity1.WithSystemPrompt(systemPrompt), severity1.WithTools()}
	if j.cli != "" {
		opts = append(opts, severity1.WithCLIPath(j.cli))
	}
	allowed := []string{}
	if j.tools {
		add := severity1.NewTool("add", "Adds two numbers.", schema(), func(_ context.Context, args map[string]any) (*severity1.McpToolResult, error) {
			a, _ := args["a"].(float64)
			b, _ := args["b"].(float64)
			return &severity1.McpToolResult{Content: []severity1.McpContent{{Type: "text", Text: fmt.Sprint(j.add(a, b))}}}, nil
		})
		opts = append(opts, severity1.WithSdkMcpServer("tools", severity1.CreateSDKMcpServer("tools", "1.0.0", add)))
		allowed = append(allowed, addTool)
	}
	if j.agent {
		opts = append(opts, severity1.WithTools("Agent"))
		allowed = append(allowed, "Agent")
	}
	if len(allowed) > 0 {
		opts = append(opts, severity1.WithAllowedTools(allowed...))
	}
	err = severity1.WithClient(ctx, func(c severity1.Client) error {
		if err := c.Query(ctx, j.prompt); err != nil {
			return err
		}
		messages := c.ReceiveResponse(ctx)
		for {
			m, err := messages.Next(ctx)
			switch {
			case errors.Is(err, severity1.ErrNoMoreMessages):
				return errors.New("no result")
			case err != nil:
				return err
			}
			if r, ok := m.(*severity1.ResultMessage); ok {
				if r.Result != nil {
					text = *r.Result
				}
				return nil
			}
		}
	}, opts...)
	return text, err
}

func schema() map[string]any {
	number := map[string]any{"type": "number"}
	return map[string]any{"type": "object", "properties": map[string]any{"a": number, "b": number}, "required": []string{"a", "b"}}
}
