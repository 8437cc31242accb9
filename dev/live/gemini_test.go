//go:build unix

package live

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini is the Gemini API.
type gemini struct{}

func (gemini) knows(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/models/")
}

func (gemini) tools(body []byte) ([]offered, error) {
	var in struct {
		Tools []struct{ FunctionDeclarations []json.RawMessage }
	}
	err := json.Unmarshal(body, &in)
	var all []offered
	for _, group := range in.Tools {
		for _, raw := range group.FunctionDeclarations {
			var tool struct {
				Name                             string
				ParametersJSONSchema, Parameters json.RawMessage
			}
			if err := json.Unmarshal(raw, &tool); err != nil {
				return nil, err
			}
			schema := tool.ParametersJSONSchema
			if schema == nil {
				schema = tool.Parameters
			}
			all = append(all, offered{tool.Name, schema, raw})
		}
	}
	return all, err
}

func (gemini) write(w http.ResponseWriter, r *http.Request, body []byte, a answer) {
	if strings.HasSuffix(r.URL.Path, ":countTokens") {
		reply(w, object{"totalTokens": 1})
		return
	}
	part := object{"text": a.text}
	if a.name != "" {
		part = object{"functionCall": object{"name": a.name, "args": json.RawMessage(a.arguments)}}
	}
	response := object{
		"candidates": []any{object{
			"content":      object{"role": "model", "parts": []any{part}},
			"finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		events(w, response)
		return
	}
	reply(w, response)
}
