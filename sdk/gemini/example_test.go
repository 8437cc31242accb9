package gemini_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/sdk/gemini"
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
	offer, err := gemini.Tools(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	config := &genai.GenerateContentConfig{Tools: offer.Tools}
	fmt.Println(config.Tools[0].FunctionDeclarations[0].Name)

	// Of the model's response: response.FunctionCalls().
	call := gemini.Call(&genai.FunctionCall{Name: "weather", Args: map[string]any{"city": "Oslo"}})
	r, err := offer.Call(ctx, call)
	if err != nil {
		panic(err)
	}
	next := genai.NewContentFromParts([]*genai.Part{gemini.Answer(call, r, true)}, genai.RoleUser)
	fmt.Println(next.Parts[0].FunctionResponse.Response)
	// Output:
	// weather
	// map[output:Sunny in Oslo]
}
