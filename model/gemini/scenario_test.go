package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/usage"
)

// open returns a model whose requests go to url.
func open(t testing.TB, name, url string) model.Model {
	t.Helper()
	m := gemini.New(name, &gemini.Options{APIKey: modeltest.Key, BaseURL: url})
	return m
}

func TestScenarios(t *testing.T) {
	for _, name := range []string{"gemini-3-pro-preview", "gemini-2.5-flash"} {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, modeltest.Provider{
				Name:    "gemini",
				Wire:    accepted(),
				New:     func(url string) model.Model { return open(t, name, url) },
				Unknown: json.RawMessage(`{"futureData": {"a": [1, 2.50]}, "thoughtSignature": "c2ln"}`),
				Skip:    map[string]string{"length in arguments": "Gemini sends the arguments of a call in one piece; it sends no call that is not complete"},
				Usage: func(t usage.Tokens) usage.Tokens {
					t.CacheWrite, t.LongCacheWrite = 0, 0 // the cache is filled without a report
					return t
				},
			})
		})
	}
}
