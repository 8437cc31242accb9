package main

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
)

type einoItem struct {
	Item string `json:"item"`
}

type einoOrder struct {
	Item    string `json:"item"`
	Count   int    `json:"count"`
	Reorder bool   `json:"reorder"`
}

func einoStructured(ctx context.Context, url string, w *world) (order einoOrder, err error) {
	stock, err := utils.InferTool("stock", "Returns how many pieces of an item there are.",
		func(_ context.Context, in einoItem) (int, error) { return w.stock(in.Item), nil })
	if err != nil {
		return order, err
	}
	params, err := utils.GoStruct2ParamsOneOf[einoOrder]()
	if err != nil {
		return order, err
	}
	schema, err := params.ToJSONSchema()
	if err != nil {
		return order, err
	}
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: url, APIKey: apiKey, Model: modelName,
		ResponseFormat: &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: "order", Strict: true, JSONSchema: schema,
			},
		},
	})
	if err != nil {
		return order, err
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "stock", Description: "Knows the stock.", Model: m,
		ToolsConfig: adk.ToolsConfig{
			ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{stock}},
		},
	})
	if err != nil {
		return order, err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a}).Query(ctx, structuredPrompt)
	answer := ""
	for {
		event, ok := events.Next()
		if !ok {
			return order, json.Unmarshal([]byte(answer), &order)
		}
		if event.Err != nil {
			return order, event.Err
		}
		message, _, err := adk.GetMessage(event)
		if err != nil {
			return order, err
		}
		if message != nil {
			answer = message.Content
		}
	}
}
