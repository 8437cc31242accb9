package main

import (
	"context"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

type einoCity struct {
	City string `json:"city"`
}

type einoWeather struct {
	Degrees int `json:"degrees"`
}

type einoPeople struct {
	People int `json:"people"`
}

func einoParallel(ctx context.Context, url string, w *world) (*schema.Message, error) {
	weather, err := utils.InferTool("weather", "Returns the weather of a city.",
		func(_ context.Context, in einoCity) (einoWeather, error) {
			return einoWeather{w.degrees(in.City)}, nil
		})
	if err != nil {
		return nil, err
	}
	people, err := utils.InferTool("people", "Returns how many people live in a city.",
		func(_ context.Context, in einoCity) (einoPeople, error) {
			return einoPeople{w.people(in.City)}, nil
		})
	if err != nil {
		return nil, err
	}
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: url, APIKey: apiKey, Model: modelName})
	if err != nil {
		return nil, err
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "cities", Description: "Knows cities.", Model: m,
		ToolsConfig: adk.ToolsConfig{
			ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{weather, people}},
		},
	})
	if err != nil {
		return nil, err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a}).Query(ctx, parallelPrompt)
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
