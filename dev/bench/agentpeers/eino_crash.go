package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

type einoLine struct {
	Text string `json:"text"`
}

type einoStore struct{ dir string }

func (s einoStore) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

func (s einoStore) Set(_ context.Context, id string, data []byte) error {
	return os.WriteFile(filepath.Join(s.dir, id), data, 0o600)
}

func einoCrash(ctx context.Context, url, dir string, f *file) (*schema.Message, error) {
	write, err := utils.InferTool("append_line", "Appends a line to the file.",
		func(_ context.Context, in einoLine) (string, error) { return f.appendLine(in.Text) })
	if err != nil {
		return nil, err
	}
	read, err := utils.InferTool("read_lines", "Returns the lines of the file.",
		func(context.Context, struct{}) ([]string, error) { return f.readLines() })
	if err != nil {
		return nil, err
	}
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: url, APIKey: apiKey, Model: modelName})
	if err != nil {
		return nil, err
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "writer", Description: "Writes a file.", Model: m,
		ToolsConfig: adk.ToolsConfig{
			ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{write, read}},
		},
	})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, CheckPointStore: einoStore{dir}})
	events, err := runner.Resume(ctx, "checkpoint")
	if err != nil { // there is none
		events = runner.Query(ctx, crashPrompt, adk.WithCheckPointID("checkpoint"))
	}
	var last *schema.Message
	for {
		event, ok := events.Next()
		if !ok {
			return last, nil
		}
		if event.Err != nil {
			return nil, event.Err
		}
		message, _, err := adk.GetMessage(event)
		if err != nil {
			return nil, err
		}
		if message != nil {
			last = message
		}
	}
}
