package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
)

// newModel returns a model of the server at url.
func newModel(url, name string, opts anthropic.Options) model.Model {
	opts.APIKey, opts.BaseURL = modeltest.Key, url
	return anthropic.New(name, &opts)
}

func TestScenarios(t *testing.T) {
	unknown := json.RawMessage(`{"type":"future_block","id":"future_1","input":{"q":"a  b<c>","n":1.50},"z":null}`)
	for _, name := range []string{"claude-opus-5-5", "claude-haiku-4-5"} {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, modeltest.Provider{
				Name: "anthropic", Wire: modeltest.Anthropic(), Unknown: unknown,
				New: func(url string) model.Model { return newModel(url, name, anthropic.Options{}) },
			})
		})
	}
}
