package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/x/session"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
)

type genkitLine struct {
	Text string `json:"text"`
}

type genkitState struct {
	Messages []*ai.Message `json:"messages"`
}

type genkitStore struct{ dir string }

func (s genkitStore) Get(_ context.Context, id string) (*session.Data[genkitState], error) {
	data, err := os.ReadFile(filepath.Join(s.dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state := new(session.Data[genkitState])
	return state, json.Unmarshal(data, state)
}

func (s genkitStore) Save(_ context.Context, id string, state *session.Data[genkitState]) error {
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, id), data, 0o600)
}

func genkitCrash(ctx context.Context, url, dir string, f *file) (*ai.ModelResponse, error) {
	plugin := &compat_oai.OpenAICompatible{Provider: "local", BaseURL: url, APIKey: apiKey}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin), genkit.WithDefaultModel("local/"+modelName))
	write := genkit.DefineTool(g, "append_line", "Appends a line to the file.",
		func(_ *ai.ToolContext, in genkitLine) (string, error) { return f.appendLine(in.Text) })
	read := genkit.DefineTool(g, "read_lines", "Returns the lines of the file.",
		func(*ai.ToolContext, struct{}) ([]string, error) { return f.readLines() })
	store := genkitStore{dir}
	s, err := session.Load(ctx, store, "session")
	if missing := (*session.NotFoundError)(nil); errors.As(err, &missing) {
		s, err = session.New(ctx, session.WithID[genkitState]("session"), session.WithStore[genkitState](store))
	}
	if err != nil {
		return nil, err
	}
	ctx = session.NewContext(ctx, s)
	response, err := genkit.Generate(ctx, g, ai.WithMessages(s.State().Messages...),
		ai.WithPrompt(crashPrompt), ai.WithTools(write, read))
	if err != nil {
		return nil, err
	}
	return response, s.UpdateState(ctx, genkitState{response.History()})
}
