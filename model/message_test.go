package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

// TestPartJSON writes parts and reads them again: nothing is lost, and Raw keeps
// every byte.
func TestPartJSON(t *testing.T) {
	from := &model.Origin{Provider: "anthropic", API: "messages", Model: "claude"}
	for _, p := range []model.Part{
		{Type: model.TypeText, Text: "a < b & c\u2028"},
		{Type: model.TypeImage, Data: []byte{0, 255, 1}, MIMEType: "image/png"},
		{Type: model.TypeDocument, Data: []byte("%PDF"), MIMEType: "application/pdf", Name: "plan.pdf"},
		{Type: model.TypeThinking, Text: "hm", Origin: from, Raw: json.RawMessage("{ \"type\" :\t\"thinking\",\n \"signature\": \"a\\u003cb<\\/\" , \"n\": 1.0e2 }")},
		{Type: model.TypeCall, ID: "c1", Name: "add", Arguments: json.RawMessage(`{"a":9007199254740993}`), Origin: from},
		{Type: model.TypeCall, ID: "c2", Name: "add", Arguments: json.RawMessage(`{}`), Invalid: "a is missing"},
		{Type: model.TypeResult, Result: toolpost.TextResult("3").Message("c1")},
		{Type: model.TypeOpaque, Text: "server_tool_use", Origin: from, Raw: json.RawMessage(` [1 , 2]`)},
		{Type: model.TypeOpaque, Text: "broken", Origin: from, Raw: json.RawMessage("[\"\xff\" ]")},
		{},
	} {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var got model.Part
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Errorf("%s: %s", data, d)
		}
	}
	var p model.Part
	if err := json.Unmarshal([]byte(`{"type":"text","raw":7}`), &p); err == nil {
		t.Error("a raw form that is not a string was read")
	}
}

func TestMessage(t *testing.T) {
	m := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		{Type: model.TypeThinking, Text: "secret"}, {Type: model.TypeText, Text: "I "},
		{Type: model.TypeCall, ID: "c1", Name: "a"}, {Type: model.TypeText, Text: "look."}, {Type: model.TypeCall, ID: "c2", Name: "b"},
	}}
	if got := m.Text(); got != "I look." {
		t.Errorf("text: got %q", got)
	}
	calls := m.Calls()
	if len(calls) != 2 || calls[0] != &m.Parts[2] || calls[1] != &m.Parts[4] {
		t.Errorf("calls: got %v", calls)
	}
	if u := model.UserText("hi"); u.Role != model.RoleUser || u.Text() != "hi" || len(u.Calls()) != 0 {
		t.Errorf("user text: got %+v", u)
	}
}

func TestOriginAccepts(t *testing.T) {
	to := model.Origin{Provider: "openai", API: "responses", Model: "new"}
	for part, want := range map[*model.Origin]bool{
		nil: false,
		{Provider: "openai", API: "responses", Model: "old"}: true,
		{Provider: "openai", API: "chat", Model: "new"}:      false,
		{Provider: "other", API: "responses", Model: "new"}:  false,
	} {
		if got := to.Accepts(part); got != want {
			t.Errorf("%v: got %v", part, got)
		}
	}
}

func TestError(t *testing.T) {
	cause := errors.New("broken pipe")
	e := &model.Error{Origin: model.Origin{Provider: "p", Model: "m"}, Kind: model.KindServer, Status: 500, RetryAfter: time.Second, Text: "sorry", Err: cause}
	if want := "p/m: server (HTTP 500): sorry: broken pipe"; e.Error() != want || !errors.Is(e, cause) {
		t.Errorf("got %q", e)
	}
	for _, kind := range []model.ErrorKind{model.KindOverloaded, model.KindRateLimit, model.KindServer, model.KindConnection} {
		if e := (&model.Error{Kind: kind}); !e.Temporary() {
			t.Errorf("%s is not temporary", kind)
		}
	}
	for _, kind := range []model.ErrorKind{model.KindQuota, model.KindAuth, model.KindTooLong, model.KindInvalid, ""} {
		if e := (&model.Error{Kind: kind}); e.Temporary() {
			t.Errorf("%q is temporary", kind)
		}
	}
	if got := (model.Loss{Message: 1, Part: 2, Text: "thinking"}).String(); got != "message 1, part 2: thinking" {
		t.Errorf("loss: got %q", got)
	}
}

func TestValidate(t *testing.T) {
	text := model.Part{Type: model.TypeText, Text: "hi"}
	call := func(id string) model.Part { return model.Part{Type: model.TypeCall, ID: id, Name: "tool"} }
	result := func(id string) model.Part {
		return model.Part{Type: model.TypeResult, Result: &toolpost.ToolMessage{CallID: id}}
	}
	user := func(parts ...model.Part) *model.Message { return &model.Message{Role: model.RoleUser, Parts: parts} }
	answer := func(parts ...model.Part) *model.Message {
		return &model.Message{Role: model.RoleAssistant, Parts: parts}
	}
	for _, c := range []struct {
		name     string
		messages []*model.Message
		want     string // a part of the error; empty for none
	}{
		{"a question", []*model.Message{user(text)}, ""},
		{"a call", []*model.Message{user(text), answer(text, call("1")), user(result("1"))}, ""},
		{"parallel calls, in any order, with text", []*model.Message{user(text), answer(call("1"), call("2")), user(result("2"), result("1"), text)}, ""},
		{"an id is used again", []*model.Message{user(text), answer(call("1")), user(result("1")), answer(call("1")), user(result("1"))}, ""},
		{"two of the user in a row", []*model.Message{user(text), user(text)}, ""},
		{"a pause", []*model.Message{user(text), answer(text), answer(text), user(text)}, ""},

		{"nothing", nil, "the conversation is empty"},
		{"no parts", []*model.Message{user()}, "message 0: the message has no parts"},
		{"a role", []*model.Message{{Role: "system", Parts: []model.Part{text}}}, `message 0: the role is "system"`},
		{"first", []*model.Message{answer(text), user(text)}, "message 0 is the assistant's"},
		{"last", []*model.Message{user(text), answer(text)}, "message 1, the last, is the assistant's"},
		{"no result", []*model.Message{user(text), answer(call("1")), user(text)}, `message 2: the tool call "1" of the message before has no result`},
		{"one result of two", []*model.Message{user(text), answer(call("1"), call("2")), user(result("1"))}, `"2" of the message before has no result`},
		{"the answer waits", []*model.Message{user(text), answer(call("1")), answer(text), user(result("1"))}, `message 2: the tool call "1"`},
		{"no call", []*model.Message{user(text, result("1"))}, `message 0: part 1: the message before has no tool call "1"`},
		{"a result too late", []*model.Message{user(text), answer(call("1")), user(result("1")), answer(text), user(result("1"))}, "message 4: part 0: the message before has no tool call"},
		{"two results", []*model.Message{user(text), answer(call("1")), user(result("1"), result("1"))}, `part 1: the tool call "1" has two results`},
		{"one id twice", []*model.Message{user(text), answer(call("1"), call("1")), user(result("1"))}, `message 1: two tool calls have the id "1"`},
		{"a call without id", []*model.Message{user(text), answer(call("")), user(text)}, "message 1: part 0: a tool call needs an id and a name"},
		{"a call without name", []*model.Message{user(text), answer(model.Part{Type: model.TypeCall, ID: "1"}), user(text)}, "a tool call needs an id and a name"},
		{"a call of the user", []*model.Message{user(call("1"))}, "in a message of the assistant"},
		{"a result without content", []*model.Message{user(model.Part{Type: model.TypeResult})}, "a tool result needs its content"},
		{"a result of the assistant", []*model.Message{user(text), answer(result("1"))}, "in a message of the user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := (&model.Request{Messages: c.messages}).Validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
