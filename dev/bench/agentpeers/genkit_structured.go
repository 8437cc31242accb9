package main

import (
	"context"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
)

type genkitItem struct {
	Item string `json:"item"`
}

type genkitOrder struct {
	Item    string `json:"item"`
	Count   int    `json:"count"`
	Reorder bool   `json:"reorder"`
}

func genkitStructured(ctx context.Context, url string, w *world) (*genkitOrder, error) {
	plugin := &compat_oai.OpenAICompatible{Provider: "local", BaseURL: url, APIKey: apiKey}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin), genkit.WithDefaultModel("local/"+modelName))
	stock := genkit.DefineTool(g, "stock", "Returns how many pieces of an item there are.",
		func(_ *ai.ToolContext, in genkitItem) (int, error) { return w.stock(in.Item), nil })
	order, _, err := genkit.GenerateData[genkitOrder](ctx, g, ai.WithPrompt(structuredPrompt), ai.WithTools(stock))
	return order, err
}
