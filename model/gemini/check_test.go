package gemini_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/schema"
)

// TestCheck refuses bodies that Google refuses, with the reason.
func TestCheck(t *testing.T) {
	const (
		hi   = `{"role":"user","parts":[{"text":"Hi."}]}`
		call = `{"role":"model","parts":[{"functionCall":{"id":"1","name":"a","args":{}}},{"functionCall":{"name":"b"}}]}`
		both = `{"role":"user","parts":[{"functionResponse":{"name":"b","response":{}}},{"functionResponse":{"id":"1","name":"a","response":{}}},{"text":"And?"}]}`
	)
	for _, test := range []struct{ body, want string }{
		{`{"contents":[` + hi + `]}`, ""},
		{`{"contents":[` + hi + `,` + call + `,` + both + `]}`, ""},
		{`{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}]}`, ""},
		{`{"contents":[` + hi + `,{"role":"model","parts":[{"thoughtSignature":"eA=="},{"future":1},{"text":""}]},` + hi + `]}`, ""},
		{`5`, "not a request"}, {`{`, "not a request"}, {`{}`, "contents"}, {`{"contents":[]}`, "contents is empty"}, {`{"contents":5}`, "not a list"},
		{`{"contents":[{"parts":[{"text":"Hi."}]}]}`, "the role"},
		{`{"contents":[` + hi + `,` + hi + `]}`, "alternate"},
		{`{"contents":[{"role":"model","parts":[{"text":"Hi."}]},` + hi + `]}`, "beginning with the user's"},
		{`{"contents":[` + hi + `,{"role":"model","parts":[{"text":"Hi."}]}]}`, "the last, is the model's"},
		{`{"contents":[{"role":"user","parts":[]}]}`, "parts is empty"},
		{`{"contents":[{"role":"user","parts":[{}]}]}`, "needs one"},
		{`{"contents":[{"role":"user","parts":[5]}]}`, "not an object"},
		{`{"contents":[{"role":"user","parts":[{"text":"a","inlineData":{}}]}]}`, "2 members with data"},
		{`{"contents":[{"role":"user","parts":[{"text":""}]}]}`, "text is empty"},
		{`{"contents":[{"role":"user","parts":[{"functionCall":{"name":"a"}}]}]}`, "user calls"},
		{`{"contents":[` + hi + `,{"role":"model","parts":[{"functionResponse":{"name":"a","response":{}}}]},` + hi + `]}`, "model answers"},
		{`{"contents":[` + hi + `,{"role":"model","parts":[{"functionCall":{}}]},` + hi + `]}`, "has no name"},
		{`{"contents":[` + hi + `,` + call + `,` + hi + `]}`, "0 function responses to the 2"},
		{`{"contents":[` + both + `]}`, "2 function responses to the 0"},
		{`{"contents":[` + hi + `,` + call + `,` + strings.Replace(both, `"1"`, `"2"`, 1) + `]}`, `"a" with the id "1" has no response`},
		{`{"contents":[` + hi + `,` + call + `,` + strings.Replace(both, `{}`, `"text"`, 1) + `]}`, "not an object"},
		{`{"contents":[` + hi + `,` + call + `,` + both + `],"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}`, "no thoughtSignature"},
		{`{"contents":[` + hi + `],"tools":5}`, "not a list of tools"},
		{`{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"a"},{"name":"a"}]}]}`, "two functions"},
		{`{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"1 a"}]}]}`, `"1 a"`},
		{`{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"a","parameters":{},"parametersJsonSchema":{}}]}]}`, "two schemas"},
		{`{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"a","parametersJsonSchema":{"type":"object","properties":{"b":{"$ref":"#/$defs/c"}}}}]}]}`, `"a"`},
		{`{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"a","parametersJsonSchema":5}]}]}`, `"a"`},
		{`{"contents":[` + hi + `],"generationConfig":{"responseJsonSchema":{"type":"object"}}}`, "application/json"},
		{`{"contents":[` + hi + `],"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"array"}}}`, "answer"},
	} {
		err := gemini.Check([]byte(test.body))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.body, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %s", test.body, err, test.want)
		}
	}
}

// TestUnsigned: a call without a signature gets what replaces one if the model
// needs it; everything else stays as it was received.
func TestUnsigned(t *testing.T) {
	raw := `{"functionCall": {"name": "weather", "args": {"city": "Oslo"}, "future": 1}}`
	w := streams(data(`{"content":{"parts":[` + raw + `,` + raw + `]},"finishReason":"STOP"}`))
	r := hello()
	r.Tools = weatherSet(t)
	old := w.open(t, "gemini-2.5-flash")
	got, err := ask(t, old, r)
	if err != nil {
		t.Fatal(err)
	}
	calls := got.Message.Calls()
	r.Messages = append(r.Messages, got.Message, user(result(calls[0].ID, "Sunny."), result(calls[1].ID, "Sunny.")))
	if got, err = ask(t, old, r); err != nil || len(got.Losses) > 0 || !strings.Contains(w.bodies[1], raw+","+raw) {
		t.Errorf("%v, losses %v\n%s", err, got.Losses, w.bodies[1])
	}
	got, err = ask(t, w.open(t, "gemini-3-pro-preview"), r)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",` + raw[1:] + "," + raw; !strings.Contains(w.bodies[2], want) {
		t.Errorf("want %s\nbody %s", want, w.bodies[2])
	}
	if len(got.Losses) != 1 || got.Losses[0].Message != 1 || got.Losses[0].Part != 0 {
		t.Errorf("losses: %v", got.Losses)
	}
}

// TestModelCheck refuses what the neutral form already shows.
func TestModelCheck(t *testing.T) {
	m := streams("").open(t, "gemini-3-pro-preview")
	call := model.Part{Type: model.TypeCall, ID: "1", Name: "weather"}
	for want, r := range map[string]*model.Request{
		"is empty":      {},
		"has no result": {Messages: []*model.Message{model.UserText("Hi."), assistant(call), model.UserText("Hi.")}},
	} {
		if err := m.Check(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestDamaged: a raw form that the provider would refuse is rebuilt, and an empty
// message is replaced by a note, so that a stored session goes on.
func TestDamaged(t *testing.T) {
	w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
	m := w.open(t, "gemini-3-pro-preview")
	from := m.Origin()
	for _, raw := range []string{`{"text":"a"},{"text":"b"}`, `{"text":`, `5`, `{}`, ` {"text":"a"}`, `{"text":"a","functionCall":{"name":"b"}}`,
		`{"functionCall":{"name":"b"}}`, `{"functionCall":{}}`, `{"functionResponse":{"name":"b","response":{}}}`} {
		text := model.Part{Type: model.TypeText, Text: "Rebuilt.", Origin: &from, Raw: []byte(raw)}
		call := model.Part{Type: model.TypeCall, ID: "1", Name: "weather", Arguments: []byte(`{"city":"Oslo"}`), Origin: &from, Raw: []byte(raw)}
		r := &model.Request{Messages: []*model.Message{user(model.Part{Type: model.TypeText}), assistant(text, call), user(result("1", "Sunny."))}}
		got, err := ask(t, m, r)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		body := w.bodies[len(w.bodies)-1]
		if !strings.Contains(body, `[{"text":"Rebuilt."},{`) || !strings.Contains(body, "The message is empty") {
			t.Errorf("%s: the body is %s", raw, body)
		}
		if len(got.Losses) < 3 {
			t.Errorf("%s: losses %v", raw, got.Losses)
		}
	}
}

// TestCorpus: every real tool that is offered passes the check, also as the
// schema of an answer.
func TestCorpus(t *testing.T) {
	tools, err := weather().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, checked := streams("").open(t, "gemini-3-pro-preview"), 0
	for _, s := range append(accept.Tools(), accept.Torture()...) {
		tool := *tools[0]
		tool.Name = s.Name()
		if tool.Input, err = schema.Parse(s.Input()); err != nil {
			continue
		}
		set, err := toolpost.NewSet(t.Context(), toolpost.Tools{&tool})
		if err != nil {
			continue
		}
		checked++
		r := hello()
		r.Tools = set
		if err := m.Check(r); err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		r.Tools, r.Output = nil, tool.Input
		if err := m.Check(r); err != nil && s.Name() != "numbers_big" { // a listed integer that Google would read as another
			t.Errorf("%s as the answer: %v", s.Name(), err)
		}
	}
	if checked < 100 {
		t.Errorf("only %d tools were checked", checked)
	}
}
