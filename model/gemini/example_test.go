package gemini_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
)

type place struct {
	City string `json:"city"`
}

func weather() toolpost.Toolset {
	return toolpost.Tools{toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in place) (string, error) { return "Sunny in " + in.City, nil }, nil)}
}

func ExampleNew() {
	ctx := context.Background()
	m := gemini.New("gemini-3-flash-preview", &gemini.Options{APIKey: "the key"})
	set, err := toolpost.NewSet(ctx, weather())
	if err != nil {
		panic(err)
	}
	request := &model.Request{Messages: []*model.Message{model.UserText("How is the weather in Oslo?")}, Tools: set}
	fmt.Println(m.Origin(), m.Check(request))
	// For the response: m.Stream(ctx, request).
	// Output: gemini/gemini-3-flash-preview <nil>
}
