//go:build unix

package live

import (
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) knows(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/messages")
}

func (anthropic) tools(body []byte) ([]offered, error) {
	var in struct{ Tools []json.RawMessage }
	err := json.Unmarshal(body, &in)
	var all []offered
	for _, raw := range in.Tools {
		var tool struct {
			Name   string
			Schema json.RawMessage `json:"input_schema"`
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			return nil, err
		}
		all = append(all, offered{tool.Name, tool.Schema, raw})
	}
	return all, err
}

func (anthropic) write(w http.ResponseWriter, r *http.Request, body []byte, a answer) {
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		reply(w, object{"input_tokens": 1})
		return
	}
	var in struct {
		Model  string
		Stream bool
	}
	json.Unmarshal(body, &in) //nolint:errcheck // tools has decoded it before
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": in.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}, "end_turn"
	if a.name != "" {
		block = object{"type": "tool_use", "id": a.id, "name": a.name, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": a.arguments}, "tool_use"
	}
	if !in.Stream {
		if a.name != "" {
			block["input"] = json.RawMessage(a.arguments)
		} else {
			block["text"] = a.text
		}
		message["content"], message["stop_reason"] = []any{block}, stop
		reply(w, message)
		return
	}
	events(w,
		object{"type": "message_start", "message": message},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage},
		object{"type": "message_stop"},
	)
}
