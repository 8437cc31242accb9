package main

import (
	"context"
	"path/filepath"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

type toolpostLine struct {
	Text string `json:"text"`
}

func toolpostCrash(ctx context.Context, url, dir string, f *file) (*agent.Result, error) {
	write := toolpost.New("append_line", "Appends a line to the file.",
		func(_ context.Context, in toolpostLine) (string, error) { return f.appendLine(in.Text) }, nil)
	read := toolpost.New("read_lines", "Returns the lines of the file.",
		func(context.Context, struct{}) ([]string, error) { return f.readLines() },
		&toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: new(true)}})
	m := openai.NewChat(modelName, &openai.Options{BaseURL: url, APIKey: apiKey, Provider: "openai"})
	a := agent.New(m, toolpost.Tools{write, read}, nil)
	s, err := agent.OpenSession(filepath.Join(dir, "session.jsonl"))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if len(s.Messages()) > 0 {
		return a.Do(ctx, s)
	}
	return a.Do(ctx, s, model.Text(crashPrompt))
}
