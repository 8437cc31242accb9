package anthropic_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/schema"
)

// TestOutput has answers in another shape than their schema, because the
// provider's dialect lacks the original shape.
func TestOutput(t *testing.T) {
	for _, c := range []struct{ schema, wrote, want string }{
		{`{"type":"array","items":{"type":"string"}}`, `{"answer":["a"]}`, `["a"]`},
		{`{"$defs":{"a":{"type":"integer"}},"$ref":"#/$defs/a"}`, `{"answer": 7}`, `7`},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"request":[{"key":"a","value":1}]}`, `{"a":1}`},
		{`{"type":"object","properties":{"color":{"enum":["red","Blue"]}},"required":["color"]}`, `{"color":"Red"}`, `{"color":"red"}`},
		{`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`, `{"n": 0}`, `{"n": 0}`},
		{`{"type":"array","items":{"type":"string"}}`, `I cannot.`, `I cannot.`},
	} {
		s := modeltest.Serve(t, modeltest.Anthropic(), modeltest.Turn{Parts: []model.Part{textPart(c.wrote)}}, modeltest.Turn{Parts: []model.Part{textPart("Yes.")}})
		m := newModel(s.URL, "claude-opus-5-5", anthropic.Options{})
		r := &model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Output: schema.MustParse(c.schema)}
		for delta, err := range m.Stream(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
			if delta.Response == nil {
				continue
			}
			if got := delta.Response.Message.Text(); got != c.want {
				t.Errorf("%s\nsent %s\nthe answer is %s, want %s", c.schema, s.Requests()[0], got, c.want)
			}
			r.Messages = append(r.Messages, delta.Response.Message, model.UserText("Sure?"))
		}
		for _, err := range m.Stream(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if body := string(s.Requests()[1]); !strings.Contains(body, strings.ReplaceAll(c.wrote, `"`, `\"`)) {
			t.Errorf("the model does not receive what it wrote: %s", body)
		}
	}
}
