package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

type city struct {
	City string `json:"city"`
}

func ExampleAgent_Do() {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in city) (string, error) { return "Sunny in " + in.City, nil }, nil)

	// In a program: anthropic.New, openai.New, gemini.New or claudecli.New.
	m := turns(&testing.T{}, []model.Part{call(1, "weather", `{"city":"Oslo"}`)}, say("It is sunny."))

	a := agent.New(m, toolpost.Tools{weather}, &agent.Options{Limits: agent.Limits{Turns: 10}})
	result, err := a.Do(context.Background(), agent.NewSession(), model.Text("How is the weather in Oslo?"))
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text, result.Turns, "turns,", result.Usage.Calls, "call")
	// Output: It is sunny. 2 turns, 1 call
}
