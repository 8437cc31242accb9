//go:build unix

package live

import (
	"encoding/json"
	"net/http"
	"strings"
)

// chat is OpenAI's Chat Completions API, which most other providers speak too.
type chat struct{}

func (chat) knows(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions")
}

func (chat) tools(body []byte) ([]offered, error) {
	var in struct{ Tools []json.RawMessage }
	err := json.Unmarshal(body, &in)
	var all []offered
	for _, raw := range in.Tools {
		var tool struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			return nil, err
		}
		all = append(all, offered{tool.Function.Name, tool.Function.Parameters, raw})
	}
	return all, err
}

func (chat) write(w http.ResponseWriter, _ *http.Request, body []byte, a answer) {
	var in struct{ Stream bool }
	json.Unmarshal(body, &in) //nolint:errcheck // tools has decoded it before
	message, stop := object{"role": "assistant", "content": a.text}, "stop"
	if a.name != "" {
		function := object{"name": a.name, "arguments": a.arguments}
		call := object{"index": 0, "id": a.id, "type": "function", "function": function}
		message, stop = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	chunk := func(kind string, choice object) object {
		choice["index"] = 0
		return object{"id": "chat_1", "object": kind, "created": 1, "model": "fake", "choices": []any{choice},
			"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
	}
	if !in.Stream {
		reply(w, chunk("chat.completion", object{"message": message, "finish_reason": stop}))
		return
	}
	const kind = "chat.completion.chunk"
	events(w,
		chunk(kind, object{"delta": message, "finish_reason": nil}),
		chunk(kind, object{"delta": object{}, "finish_reason": stop}),
		"[DONE]",
	)
}
