package openai_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/sdk/openai"
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
	offer, err := openai.Tools(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	params := responses.ResponseNewParams{Model: "gpt-5", Tools: offer.Tools}

	// Of the model's response: item.AsFunctionCall(), of the items of that type.
	call := openai.Call(responses.ResponseFunctionToolCall{CallID: "c1", Name: "weather", Arguments: `{"city":"Oslo"}`})
	r, err := offer.Call(ctx, call)
	if err != nil {
		panic(err)
	}
	params.Input.OfInputItemList = append(params.Input.OfInputItemList, openai.Answer(call, r))
	next, err := json.Marshal(params.Input)
	fmt.Println(string(next), err)
	// Output: [{"output":"Sunny in Oslo","call_id":"c1","type":"function_call_output"}] <nil>
}
