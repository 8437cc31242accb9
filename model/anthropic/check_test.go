package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model/anthropic"
)

// good is a body that breaks no rule.
const good = `{"model":"m","max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000},
	"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral","ttl":"1h"}}],
	"tools":[{"name":"weather","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral","ttl":"1h"}}],
	"messages":[
		{"role":"user","content":[{"type":"text","text":"Hello.","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"server_tool_use","id":"srvtoolu_1","name":"x","input":{}},{"type":"x_tool_result","tool_use_id":"srvtoolu_1"},
			{"type":"tool_use","id":"c1","name":"weather","input":{}},{"type":"tool_use","id":"c2","name":"weather","input":{}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"c2","content":"text"},
			{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}]},
			{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"cGRm"},"cache_control":{"type":"ephemeral"}},
			{"type":"document","source":{"type":"text","media_type":"text/plain","data":"text"}}]}]}`

// TestCheck breaks each rule once.
func TestCheck(t *testing.T) {
	if err := anthropic.Check([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`{"model"`, `["model"`, "not JSON"},
		{good, `[]`, "not a JSON object"},
		{`"model":"m",`, ``, "model: it is missing"},
		{`"max_tokens":4000,`, ``, "max_tokens"},
		{`"max_tokens":4000`, `"max_tokens":0.5`, "max_tokens"},
		{`"max_tokens":4000`, `"max_tokens":2000`, "less than max_tokens"},
		{`"budget_tokens":2000`, `"budget_tokens":1000`, "at least 1024"},
		{`"type":"enabled"`, `"type":"more"`, "thinking: the type"},
		{`"tools":[`, `"tool_choice":{"type":"any"},"tools":[`, "calls are forced"},
		{`"tools":[`, `"tool_choice":{"type":"many"},"tools":[`, "tool_choice: the type"},
		{`"tools":[`, `"tool_choice":{"type":"none"},"other":[`, "it needs tools"},
		{`"tools":[`, `"output_config":{"effort":"huge"},"tools":[`, "output_config.effort"},
		{`"tools":[`, `"output_config":{"format":{"type":"json_schema"}},"tools":[`, "output_config.format"},
		{`"tools":[`, `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","oneOf":[]}}},"tools":[`, "output_config.format.schema"},
		{`[{"type":"text","text":"S","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, `[]`, "system: it is empty"},
		{`"text":"S"`, `"text":" "`, "system.0"},
		{`"ttl":"1h"}}],
	"tools"`, `"ttl":"5m"}}],
	"tools"`, "a ttl of 1h cannot follow"},
		{`"ttl":"1h"}}],
	"messages"`, `"ttl":"2h"}}],
	"messages"`, "the ttl"},
		{`{"type":"ephemeral"}}]},
		{"role":"assistant"`, `{"type":"eternal"}}]},
		{"role":"assistant"`, "must be ephemeral"},
		{`"data":"text"}}`, `"data":"text"},"cache_control":{"type":"ephemeral"}}`, "more than 4 breakpoints"},
		{`"signature":"s"`, `"signature":"s","cache_control":{"type":"ephemeral"}`, "thinking cannot have"},
		{`"name":"weather","input_schema"`, `"name":"city.weather","input_schema"`, "tools.0"},
		{`{"name":"weather","input_schema"`, `{"name":"weather","input_schema":{"type":"object"}},{"name":"weather","input_schema"`, "two tools are named"},
		{`"input_schema":{"type":"object","properties":{}}`, `"a":1`, "no input_schema"},
		{`"properties":{}`, `"anyOf":[{"required":["a"]}]`, "tools.0"},
		{`"properties":{}}`, `"properties":{"a":{"minimum":1,"type":"integer"}},"additionalProperties":false},"strict":true`, "tools.0"},
		{`"input_schema":{"type":"object","properties":{}}`, `"input_schema":{"type":"object","properties":{}},"defer_loading":true`, "deferred"},
		{`"messages":[`, `"messages":[],"other":[`, "messages: there are 0"},
		{`{"role":"user","content":[{"type":"text","text":"Hello."`, `{"role":"assistant","content":[{"type":"text","text":"Hello."`, "messages.0: the role"},
		{`"text":"Hello."`, `"text":"\n"`, "the text is empty"},
		{`{"type":"text","text":"Hello.","cache_control":{"type":"ephemeral"}}`, ``, "its content is empty"},
		{`{"type":"text","text":"Hello."`, `{"text":"Hello."`, "it has no type"},
		{`{"type":"text","text":"Hello."`, `{"type":"thinking","thinking":"","signature":"s"`, "cannot be in a message of the user"},
		{`"signature":"s"`, `"signature":""`, "no signature"},
		{`"data":"d"`, `"data":""`, "no data"},
		{`{"type":"thinking","thinking":"","signature":"s"},{"type":"redacted_thinking","data":"d"},`, ``, "must begin with thinking"},
		{`"id":"c1"`, `"id":"c:1"`, "does not match"},
		{`"id":"c1"`, `"id":"c2"`, "two calls have the id"},
		{`"id":"c1","name":"weather"`, `"id":"c1","name":"a b"`, "the name"},
		{`"id":"c1","name":"weather","input":{}`, `"id":"c1","name":"weather","input":[]`, "not an object"},
		{`"tool_use_id":"srvtoolu_1"`, `"tool_use_id":"srvtoolu_2"`, "unknown call"},
		{`{"type":"x_tool_result","tool_use_id":"srvtoolu_1"},`, ``, "has no result before it"},
		{`"tool_use_id":"c2"`, `"tool_use_id":"c3"`, `no call "c3"`},
		{`"tool_use_id":"c2"`, `"tool_use_id":"c1"`, "two results"},
		{`{"type":"tool_result","tool_use_id":"c2","content":"text"},`, ``, `"c2" of the message before has no result`},
		{`{"type":"tool_result","tool_use_id":"c2","content":"text"},`, `{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"c2"},`, "before all other blocks"},
		{`"content":[{"type":"text","text":"a"},`, `"is_error":true,"content":[{"type":"text","text":"a"},`, "only contain text"},
		{`{"type":"text","text":"a"},`, `{"type":"tool_use"},`, "cannot contain"},
		{`"media_type":"image/png"`, `"media_type":"image/svg+xml"`, "media type"},
		{`"data":"cG5n"`, `"data":"?"`, "not base64"},
		{`"media_type":"text/plain"`, `"media_type":"text/html"`, "text/plain"},
		{`{"type":"base64","media_type":"application/pdf"`, `{"type":"disk","media_type":"application/pdf"`, "the type"},
		{`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"text"}}]}]}`,
			`{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]}]}`, "does not continue"},
		{`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"text"}}]}]}`,
			`{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"tool_use","id":"c9","name":"b","input":{}}]}]}`, `"c9" has no result`},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("the body does not contain %s", c.from)
		}
		body := strings.Replace(good, c.from, c.to, 1)
		if err := anthropic.Check([]byte(body)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: the error is %v, want one with %q", c.to, c.from, err, c.want)
		}
		if c.want != "not JSON" && !json.Valid([]byte(body)) {
			t.Errorf("%s instead of %s is not JSON", c.to, c.from)
		}
	}
}
