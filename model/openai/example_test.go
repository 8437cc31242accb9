package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

// A compatible server has its own address and, if it wants one, its own key.
func ExampleNewChat() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Sunny."},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()

	m := openai.NewChat("qwen3", &openai.Options{BaseURL: server.URL + "/v1"})
	request := &model.Request{Messages: []*model.Message{model.UserText("How is the weather in Oslo?")}}
	for delta, err := range m.Stream(context.Background(), request) {
		if err != nil {
			panic(err)
		}
		fmt.Print(delta.Text)
	}
	// Output: Sunny.
}

// With a key in OPENAI_API_KEY, through the Responses API.
func ExampleNew() {
	m := model.Retry(openai.New("gpt-5.4", &openai.Options{Summaries: true}), nil)
	request := &model.Request{System: "Be brief.", Messages: []*model.Message{model.UserText("How is the weather in Oslo?")}}
	for delta, err := range m.Stream(context.Background(), request) {
		if err != nil {
			panic(err)
		}
		fmt.Print(delta.Text)
	}
}
