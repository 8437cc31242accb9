package main

import (
	"context"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

type toolpostItem struct {
	Item string `json:"item"`
}

type toolpostOrder struct {
	Item    string `json:"item"`
	Count   int    `json:"count"`
	Reorder bool   `json:"reorder"`
}

func toolpostStructured(ctx context.Context, url string, w *world) (toolpostOrder, error) {
	stock := toolpost.New("stock", "Returns how many pieces of an item there are.",
		func(_ context.Context, in toolpostItem) (int, error) { return w.stock(in.Item), nil }, nil)
	m := openai.NewChat(modelName, &openai.Options{BaseURL: url, APIKey: apiKey, Provider: "openai"})
	a := agent.New(m, toolpost.Tools{stock}, nil)
	prompt := model.Text(structuredPrompt)
	order, _, err := agent.DoAs[toolpostOrder](ctx, a, agent.NewSession(), prompt)
	return order, err
}
