package historytest

import (
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/claudecli"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
)

// A Provider is a model's API on loopback.
type Provider struct {
	Name string
	Wire modeltest.Wire
	Open func(url string) (model.Model, error)

	// Members reports that the raw form of a part is a member of a message of
	// the request, so that the request does not contain it as it is.
	Members bool

	// Whole reports that no response is cut by a limit of its length.
	Whole bool
}

// Providers returns all providers that need no other program.
func Providers() []Provider {
	return []Provider{
		{Name: "anthropic", Wire: modeltest.Anthropic(), Open: func(url string) (model.Model, error) {
			return anthropic.New("claude-test", &anthropic.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
		{Name: "openai", Wire: modeltest.Responses(), Open: func(url string) (model.Model, error) {
			return openai.New("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
		{Name: "chat", Wire: modeltest.Chat(), Members: true, Open: func(url string) (model.Model, error) {
			return openai.NewChat("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
		{Name: "gemini", Wire: modeltest.Gemini(), Open: func(url string) (model.Model, error) {
			return gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
	}
}

// successors are the models that continue a conversation.
func successors() []Provider {
	return append(Providers(), Provider{Name: "claude-cli", Open: func(string) (model.Model, error) { return claudecli.New("sonnet", nil), nil }})
}
