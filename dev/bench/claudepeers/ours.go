package main

import (
	"context"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
)

type terms struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func runOurs(ctx context.Context, j *job) (string, error) {
	opts := &claude.Options{
		CLI: j.cli, Model: model, SystemPrompt: systemPrompt,
		Tools: []string{}, SettingSources: []string{}, StrictMCPConfig: true,
	}
	if j.tools {
		add := func(_ context.Context, in terms) (float64, error) { return j.add(in.A, in.B), nil }
		opts.Toolset = toolpost.Tools{toolpost.New("add", "Adds two numbers.", add, &toolpost.Options{
			Annotations: toolpost.Annotations{ReadOnly: new(true)},
		})}
	}
	if j.agent {
		opts.Tools = []string{"Agent"}
		opts.AllowedTools = []string{"Agent"}
	}
	r, err := claude.Do(ctx, j.prompt, opts)
	if err != nil {
		return "", err
	}
	return r.Result, nil
}
