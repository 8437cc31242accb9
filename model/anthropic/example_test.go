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

// Check finds what the provider would refuse in the body of a request.
func ExampleCheck() {
	fmt.Println(anthropic.Check([]byte(`{"model":"claude","max_tokens":100,"messages":[{"role":"user","content":" "}]}`)))
	// Output: messages.0: its content is empty
}
