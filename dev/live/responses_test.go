//go:build unix

package live

import (
	"encoding/json"
	"net/http"
	"strings"
)

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) knows(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses")
}

// separator stands between a namespace and a name.
const separator = "/"

func (responses) tools(body []byte) ([]offered, error) {
	type tool struct {
		Type, Name string
		Parameters json.RawMessage
		Tools      []json.RawMessage // of a namespace
	}
	var all []offered
	var walk func(namespace string, list []json.RawMessage) error
	walk = func(namespace string, list []json.RawMessage) error {
		for _, raw := range list {
			var t tool
			if err := json.Unmarshal(raw, &t); err != nil {
				return err
			}
			if t.Type == "namespace" {
				if err := walk(t.Name+separator, t.Tools); err != nil {
					return err
				}
				continue
			}
			all = append(all, offered{namespace + t.Name, t.Parameters, raw})
		}
		return nil
	}
	var in struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	err := walk("", in.Tools)
	return all, err
}

func (responses) write(w http.ResponseWriter, _ *http.Request, _ []byte, a answer) {
	item := object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}}}
	if a.name != "" {
		item = object{"type": "function_call", "id": "fc_1", "call_id": a.id, "name": a.name, "arguments": a.arguments, "status": "completed"}
		if namespace, name, ok := strings.Cut(a.name, separator); ok {
			item["namespace"], item["name"] = namespace, name
		}
	}
	response := object{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}}
	completed := object{"id": "resp_1", "object": "response", "status": "completed", "output": []any{item},
		"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}
	events(w,
		object{"type": "response.created", "response": response},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": completed},
	)
}
