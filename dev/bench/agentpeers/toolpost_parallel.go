package main

import (
	"context"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

type toolpostCity struct {
	City string `json:"city"`
}

type toolpostWeather struct {
	Degrees int `json:"degrees"`
}

type toolpostPeople struct {
	People int `json:"people"`
}

func toolpostParallel(ctx context.Context, url string, w *world) (*agent.Result, error) {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in toolpostCity) (toolpostWeather, error) {
			return toolpostWeather{w.degrees(in.City)}, nil
		}, nil)
	people := toolpost.New("people", "Returns how many people live in a city.",
		func(_ context.Context, in toolpostCity) (toolpostPeople, error) {
			return toolpostPeople{w.people(in.City)}, nil
		}, nil)
	m := openai.NewChat(modelName, &openai.Options{BaseURL: url, APIKey: apiKey, Provider: "openai"})
	a := agent.New(m, toolpost.Tools{weather, people}, nil)
	return a.Do(ctx, agent.NewSession(), model.Text(parallelPrompt))
}
