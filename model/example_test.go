package model_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

type place struct {
	City string `json:"city"`
}

func weather() toolpost.Toolset {
	return toolpost.Tools{toolpost.New("weather", "Tells the weather of a city.",
		func(_ context.Context, in place) (string, error) { return "Sunny in " + in.City, nil }, nil)}
}

func ExampleGeminiTools() {
	ctx := context.Background()
	offer, err := model.GeminiTools(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	config := &genai.GenerateContentConfig{Tools: offer.Tools}
	fmt.Println(config.Tools[0].FunctionDeclarations[0].Name)

	// Of the model's response: response.FunctionCalls().
	call := model.GeminiCall(&genai.FunctionCall{Name: "weather", Args: map[string]any{"city": "Oslo"}})
	r, err := offer.Call(ctx, call)
	if err != nil {
		panic(err)
	}
	next := genai.NewContentFromParts([]*genai.Part{model.GeminiAnswer(call, r, true)}, genai.RoleUser)
	fmt.Println(next.Parts[0].FunctionResponse.Response)
	// Output:
	// weather
	// map[output:Sunny in Oslo]
}

func ExampleOpenAITools() {
	ctx := context.Background()
	offer, err := model.OpenAITools(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	params := responses.ResponseNewParams{Model: "gpt-5", Tools: offer.Tools}

	// Of the model's response: item.AsFunctionCall(), of the items of that type.
	call := model.OpenAICall(responses.ResponseFunctionToolCall{CallID: "c1", Name: "weather", Arguments: `{"city":"Oslo"}`})
	r, err := offer.Call(ctx, call)
	if err != nil {
		panic(err)
	}
	params.Input.OfInputItemList = append(params.Input.OfInputItemList, model.OpenAIAnswer(call, r))
	next, err := json.Marshal(params.Input)
	fmt.Println(string(next), err)
	// Output: [{"output":"Sunny in Oslo","call_id":"c1","type":"function_call_output"}] <nil>
}

func ExampleAnthropicTools() {
	ctx := context.Background()
	offer, err := model.AnthropicTools(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	params := anthropic.MessageNewParams{Model: "claude", MaxTokens: 1000, Tools: offer.Tools}

	// Of the model's response: the content blocks that are an anthropic.ToolUseBlock.
	call := model.AnthropicCall(anthropic.ToolUseBlock{ID: "c1", Name: "weather", Input: json.RawMessage(`{"city":"Oslo"}`)})
	r, err := offer.Call(ctx, call)
	if err != nil {
		panic(err)
	}
	params.Messages = append(params.Messages, anthropic.NewUserMessage(model.AnthropicAnswer(call, r)))
	next, err := json.Marshal(params.Messages[0].Content[0].OfToolResult.Content)
	fmt.Println(string(next), err)
	// Output: [{"text":"Sunny in Oslo","type":"text"}] <nil>
}
