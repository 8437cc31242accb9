package main

import (
	"context"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
)

type genkitCity struct {
	City string `json:"city"`
}

type genkitWeather struct {
	Degrees int `json:"degrees"`
}

type genkitPeople struct {
	People int `json:"people"`
}

func genkitParallel(ctx context.Context, url string, w *world) (*ai.ModelResponse, error) {
	plugin := &compat_oai.OpenAICompatible{Provider: "local", BaseURL: url, APIKey: apiKey}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin), genkit.WithDefaultModel("local/"+modelName))
	weather := genkit.DefineTool(g, "weather", "Returns the weather of a city.",
		func(_ *ai.ToolContext, in genkitCity) (genkitWeather, error) {
			return genkitWeather{w.degrees(in.City)}, nil
		})
	people := genkit.DefineTool(g, "people", "Returns how many people live in a city.",
		func(_ *ai.ToolContext, in genkitCity) (genkitPeople, error) {
			return genkitPeople{w.people(in.City)}, nil
		})
	return genkit.Generate(ctx, g, ai.WithPrompt(parallelPrompt), ai.WithTools(weather, people))
}
