package anthropic_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
)

// A program that only talks streams the response. An agent loop does the same,
// runs the calls, and sends their results.
func ExampleNew() {
	m := anthropic.New("claude-opus-5-5", nil) // the key is in ANTHROPIC_API_KEY
	request := &model.Request{Messages: []*model.Message{model.UserText("Why is the sky blue?")}}
	for delta, err := range m.Stream(context.Background(), request) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(delta.Text)
	}
}

// A request that the provider would refuse fails with the place, and nothing is sent.
func ExampleNew_check() {
	m := anthropic.New("claude-opus-5-5", &anthropic.Options{APIKey: "key"})
	fmt.Println(m.Check(&model.Request{Messages: []*model.Message{
		{Role: model.RoleUser, Parts: []model.Part{model.Text("Hello")}},
		{Role: model.RoleAssistant, Parts: []model.Part{model.Text("Hello!")}},
	}}))
	// Output:
	// message 1, the last, is the assistant's; add a user's message or the results of its calls
}
