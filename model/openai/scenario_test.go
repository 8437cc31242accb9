package openai_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/usage"
)

func TestResponsesScenarios(t *testing.T) {
	modeltest.Run(t, modeltest.Provider{
		Name: "openai",
		Wire: modeltest.Responses(),
		New: func(url string) model.Model {
			return openai.New("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url, Provider: "openai"})
		},
		Unknown: json.RawMessage(`{"id":"ws_1", "type":"web_search_call", "status":"completed", "action":{"type":"search","query":"a\u003cb"}, "novelty":[ 1.0 ]}`),
	})
}

func TestChatScenarios(t *testing.T) {
	for _, name := range []string{"openai", "elsewhere-compatible"} {
		skip := map[string]string{}
		if name != "openai" {
			skip["document"] = "few compatible servers accept documents; they are described in text, and the loss is reported"
		}
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, modeltest.Provider{
				Name: name,
				Wire: modeltest.Chat(),
				New: func(url string) model.Model {
					return openai.NewChat("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url, Provider: name})
				},
				Skip:    skip,
				Unknown: json.RawMessage(`{"reasoning_details":[ {"type":"reasoning.encrypted", "data":"a\u003cb", "index":0} ]}`),
				Sends:   sendsChatPart,
				Usage: func(t usage.Tokens) usage.Tokens {
					t.LongCacheWrite = 0 // Chat Completions do not report how long a part of the cache is kept
					return t
				},
			})
		})
	}
}

// sendsChatPart reports whether a body contains a call as it is, or the member of
// another part.
func sendsChatPart(body []byte, raw json.RawMessage) bool {
	return bytes.Contains(body, raw) || bytes.Contains(body, raw[1:len(raw)-1])
}
