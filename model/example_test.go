package model_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/tooltest"
)

// Every call of an answer needs its result in the next message.
func ExampleRequest_Validate() {
	answer := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		model.Text("I look it up."),
		{Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: []byte(`{"city":"Oslo"}`)},
	}}
	messages := []*model.Message{model.UserText("How is the weather in Oslo?"), answer, model.UserText("Well?")}
	fmt.Println((&model.Request{Messages: messages}).Validate())

	var results []model.Part
	for _, call := range answer.Calls() {
		results = append(results, model.Part{Type: model.TypeResult, Result: toolpost.TextResult("5 °C").Message(call.ID)})
	}
	messages[2].Parts = append(results, messages[2].Parts...)
	fmt.Println((&model.Request{Messages: messages}).Validate())
	// Output:
	// message 2: the tool call "c1" of the message before has no result
	// <nil>
}

// The first model is busy; the second answers. In a program they are those of a provider,
// such as anthropic.New and openai.New.
func ExampleFallback() {
	busy := tooltest.NewModel(nil, tooltest.Turn{Err: &model.Error{Kind: model.KindOverloaded}})
	other := tooltest.NewModel(nil, tooltest.Turn{Text: "It is sunny."})

	m := model.Fallback(busy, model.Retry(other, nil))
	request := &model.Request{Messages: []*model.Message{model.UserText("How is the weather in Oslo?")}}
	for delta, err := range m.Stream(context.Background(), request) {
		switch {
		case err != nil:
			panic(err)
		case delta.Restart != nil:
			fmt.Println("again") // what came before is void
		}
		fmt.Print(delta.Text)
	}
	// Output:
	// again
	// It is sunny.
}
