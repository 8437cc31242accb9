package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/sdk/anthropic"
)

type place struct {
	City string `json:"city"`
}

func weather() toolpost.Toolset {
	return toolpost.Tools{toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in place) (string, error) { return "Sunny in " + in.City, nil }, nil)}
}

func ExampleTools() {
	ctx := context.Background()
	offer, err := anthropic.Tools(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	params := sdk.MessageNewParams{Model: "claude", MaxTokens: 1000, Tools: offer.Tools}

	// Of the model's response: the content blocks that are an sdk.ToolUseBlock.
	call := anthropic.Call(sdk.ToolUseBlock{ID: "c1", Name: "weather", Input: json.RawMessage(`{"city":"Oslo"}`)})
	r, err := offer.Call(ctx, call)
	if err != nil {
		panic(err)
	}
	params.Messages = append(params.Messages, sdk.NewUserMessage(anthropic.Answer(call, r)))
	next, err := json.Marshal(params.Messages[0].Content[0].OfToolResult.Content)
	fmt.Println(string(next), err)
	// Output: [{"text":"Sunny in Oslo","type":"text"}] <nil>
}
