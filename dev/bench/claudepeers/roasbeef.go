package main

import (
	"context"
	"errors"
	"fmt"

	roasbeef "github.com/roasbeef/claude-agent-sdk-go"
)

func runRoasbeef(ctx context.Context, j *job) (text string, err error) {
	opts := []roasbeef.Option{roasbeef.WithModel(model), roasbeef.WithSystemPrompt(systemPrompt), roasbeef.WithStrictMCPConfig(true)}
	if j.cli != "" {
		opts = append(opts, roasbeef.WithCLIPath(j.cli))
	}
	if j.tools {
		add := roasbeef.ToolWithSchema("add", "Adds two numbers.", schema(), func(_ context.Context, in terms) (roasbeef.ToolResult, error) {
			return roasbeef.TextResult(fmt.Sprint(j.add(in.A, in.B))), nil
		})
		opts = append(opts,
			roasbeef.WithMcpServer("tools", roasbeef.CreateMcpServer(roasbeef.McpServerOptions{Name: "tools", Tools: []roasbeef.ToolRegistrar{add}})),
			roasbeef.WithAllowedTools([]string{addTool, "Agent"}),
			roasbeef.WithCanUseTool(func(context.Context, roasbeef.ToolPermissionRequest) roasbeef.PermissionResult {
				return roasbeef.PermissionAllow{}
			}))
	}
	client, err := roasbeef.NewClient(opts...)
	if err != nil {
		return "", err
	}
	if err := client.Connect(ctx); err != nil {
		return "", err
	}
	defer client.Close() // how it ends does not count
	err = errors.New("no result")
	for m := range client.Query(ctx, j.prompt) {
		if r, ok := m.(roasbeef.ResultMessage); ok {
			text, err = r.Result, nil
		}
	}
	return text, err
}
