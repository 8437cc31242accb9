package model_test

import (
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

// Every call of an answer needs its result in the next message.
func ExampleValidate() {
	answer := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		model.Text("I look it up."),
		{Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: []byte(`{"city":"Oslo"}`)},
	}}
	messages := []*model.Message{model.UserText("How is the weather in Oslo?"), answer, model.UserText("Well?")}
	fmt.Println(model.Validate(messages))

	var results []model.Part
	for _, call := range answer.Calls() {
		results = append(results, model.Part{Type: model.TypeResult, Result: toolpost.NewMessage(call.ID, toolpost.TextResult("5 °C"))})
	}
	messages[2].Parts = append(results, messages[2].Parts...)
	fmt.Println(model.Validate(messages))
	// Output:
	// message 2: the tool call "c1" of the message before has no result
	// <nil>
}
