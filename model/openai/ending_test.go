package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/usage"
)

// TestEnds: the calls of a response run only if it ended in a way that is known to be
// complete.
func TestEnds(t *testing.T) {
	const call = `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]`
	for reason, want := range map[string]any{ // the reason, or the kind of the error
		"stop": model.StopCalls, "tool_calls": model.StopCalls, "eos": model.StopCalls, "tool_use": model.StopCalls, "STOP": model.StopCalls,
		"length": model.StopLength, "model_length": model.StopLength, "max_tokens": model.StopLength,
		"content_filter": model.StopRefusal, "sensitive": model.StopRefusal, "SAFETY": model.StopRefusal, "refusal": model.StopRefusal,
		"repetition": model.StopRefusal, "reason_of_tomorrow": model.StopRefusal,
		"abort": model.KindServer, "network_error": model.KindServer, "insufficient_system_resource": model.KindOverloaded,
	} {
		got, _, err := ask(t, openai.NewChat, hello(t), nil, 200, events(delta(call), strings.Replace(stop, `"stop"`, `"`+reason+`"`, 1)))
		if failed, ok := errors.AsType[*model.Error](err); ok {
			if failed.Kind != want {
				t.Errorf("%s: %v", reason, err)
			}
			continue
		}
		if err != nil || got.Stop != want || want == model.StopRefusal && got.Refusal == "" {
			t.Errorf("%s: %+v, %v", reason, got, err)
		}
	}
}

// TestForeignAnswers: an answer that is not one of the API is not asked for again, and
// the error shows it.
func TestForeignAnswers(t *testing.T) {
	_, _, err := ask(t, openai.New, hello(t), nil, 200, `{"object":"chat.completion","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)
	if failed, _ := errors.AsType[*model.Error](err); failed == nil || failed.Kind != model.KindInvalid {
		t.Errorf("an answer of the other API gives %v", err)
	}
	for body, text := range map[string]string{
		"\n<!DOCTYPE html><html></html>": "a web page",
		"<?xml version='1.0'?><Error/>":  "a web page",
		"Ollama is running":              `"Ollama is running"`,
		`{"object":"list","data":[]}`:    `\"object\"`,
		`[]`:                             "[]",
	} {
		for _, kind := range []string{"text/html", "text/plain", "application/json", "application/xhtml+xml", ""} {
			for name, build := range map[string]func(string, *openai.Options) model.Model{"chat": openai.NewChat, "responses": openai.New} {
				_, _, err := ask(t, build, hello(t), map[string]string{"Content-Type": kind}, 200, body)
				failed, _ := errors.AsType[*model.Error](err)
				if failed == nil || failed.Kind != model.KindInvalid || !strings.Contains(failed.Text, text) || !strings.Contains(failed.Text, "base URL") {
					t.Errorf("%s, %q: %q gives %v", name, kind, body, err)
				}
			}
		}
	}
}

// TestDocumentOfAnyType: servers that do not stream give their answer many types.
func TestDocumentOfAnyType(t *testing.T) {
	for _, kind := range []string{"application/json", "text/plain; charset=utf-8", "text/event-stream", "text/html", ""} {
		for body, build := range map[string]func(string, *openai.Options) model.Model{
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi"}}]}`:                                               openai.NewChat,
			"\ufeff" + `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi"}}]}`:                                    openai.NewChat,
			`{"choices":[{"index":0,"delta":{"content":"H"}}]}` + "\n" + `{"choices":[{"index":0,"finish_reason":"stop","delta":{"content":"i"}}]}` + "\n": openai.NewChat,
			`{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}`:   openai.New,
		} {
			got, _, err := ask(t, build, hello(t), map[string]string{"Content-Type": kind}, 200, body)
			if err != nil || got.Message.Text() != "Hi" {
				t.Errorf("%q: %s gives %v", kind, body, err)
			}
		}
	}
}

// TestUsageOfGroq: Groq writes the usage into a member of its own.
func TestUsageOfGroq(t *testing.T) {
	got, _, err := ask(t, openai.NewChat, hello(t), nil, 200, events(delta(`"content":"Hi"`), strings.Replace(stop, `]}`, `],"x_groq":{"id":"r","usage":{"prompt_tokens":9,"completion_tokens":4}}}`, 1)))
	if want := (usage.Tokens{Input: 9, Output: 4}); err != nil || got.Usage != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestIDsOfEachResponse: some servers count the calls of each response from 0, and OpenAI
// refuses a conversation in which two calls have one id.
func TestIDsOfEachResponse(t *testing.T) {
	const call = `{"type":"function_call","id":"fc_0","call_id":"call_0","name":"weather","arguments":"{\"city\":\"Oslo\"}","status":"completed"}`
	body := events(`{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + call + `,` + call + `]}}`)
	r := hello(t)
	for range 3 {
		got, _, err := ask(t, openai.New, r, nil, 200, body)
		if err != nil {
			t.Fatal(err)
		}
		user := &model.Message{Role: model.RoleUser}
		for _, c := range got.Message.Calls() {
			user.Parts = append(user.Parts, model.Part{Type: model.TypeResult, Result: toolpost.TextResult("Sunny").Message(c.ID)})
		}
		r.Messages = append(r.Messages, got.Message, user)
	}
	if err := openai.New("gpt-test", &openai.Options{Provider: "ollama"}).Check(r); err != nil {
		t.Error(err)
	}
	_, sent := send(t, openai.New, "m", openai.Options{APIKey: "k", Provider: "ollama"}, r)
	ids := map[string]int{}
	for _, piece := range strings.Split(sent, `"call_id":"`)[1:] {
		id, _, _ := strings.Cut(piece, `"`)
		ids[id]++
	}
	if len(ids) != 6 {
		t.Errorf("the ids are %v, want 6, each of a call and its result", ids)
	}
	for id, n := range ids {
		if n != 2 {
			t.Errorf("%s is sent %d times", id, n)
		}
	}
}

// endOf asks a model, and returns how the response stopped, or the kind of the error.
func endOf(t *testing.T, build func(string, *openai.Options) model.Model, body string) any {
	t.Helper()
	got, _, err := ask(t, build, hello(t), nil, 200, body)
	if failed, ok := errors.AsType[*model.Error](err); ok {
		return failed.Kind
	}
	if err != nil {
		t.Fatal(err)
	}
	if (got.Refusal != "") != (got.Stop == model.StopRefusal) {
		t.Errorf("stop %q, refusal %q", got.Stop, got.Refusal)
	}
	return got.Stop
}

// TestTwoEnds: the worst of several reasons counts, and none takes one back; calls need
// one, text does not.
func TestTwoEnds(t *testing.T) {
	const call = `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]`
	for _, c := range []struct {
		delta, reasons string
		want           any // see endOf
	}{
		{call, "content_filter stop", model.StopRefusal}, {call, "stop content_filter", model.StopRefusal},
		{call, "length tool_calls", model.StopLength}, {call, "length content_filter", model.StopRefusal},
		{call, "reason_of_tomorrow stop", model.StopRefusal}, {call, "abort stop", model.KindServer}, {call, "content_filter abort", model.KindServer},
		{call, "stop tool_calls", model.StopCalls}, {call, "", model.KindConnection}, {`"content":"Hi"`, "", model.StopEnd},
	} {
		chunks := []string{delta(c.delta)}
		for _, reason := range strings.Fields(c.reasons) {
			chunks = append(chunks, strings.Replace(stop, `"stop"`, `"`+reason+`"`, 1))
		}
		if got := endOf(t, openai.NewChat, events(append(chunks, "[DONE]")...)); got != c.want {
			t.Errorf("%.20s, %s: %s, want %s", c.delta, c.reasons, got, c.want)
		}
	}
}

// TestEndsOfResponses: the event, the status, the details and the error of a response say
// how it ended, and the worst of them counts.
func TestEndsOfResponses(t *testing.T) {
	const call = `{"type":"function_call","id":"fc1","call_id":"c1","name":"weather","arguments":"{\"city\":\"Oslo\"}","status":"completed"}`
	const text = `{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}`
	for _, c := range []struct {
		event, item, members string
		want                 any // see endOf
	}{
		{"completed", call, `"status":"completed"`, model.StopCalls},
		{"completed", call, `"status":"completed","error":null,"incomplete_details":null`, model.StopCalls},
		{"completed", call, `"object":"response"`, model.StopCalls},
		{"completed", call, `"status":"completed","error":{}`, model.StopCalls},
		{"incomplete", call, `"object":"response"`, model.StopLength},
		{"incomplete", call, `"status":"completed","incomplete_details":null`, model.StopLength},
		{"incomplete", call, `"status":"in_progress"`, model.StopLength},
		{"completed", call, `"status":"incomplete"`, model.StopLength},
		{"completed", call, `"status":"in_progress"`, model.KindConnection},
		{"completed", text, `"status":"in_progress"`, model.StopEnd},
		{"completed", call, `"status":"truncated"`, model.StopRefusal},
		{"completed", call, `"status":"failed"`, model.KindServer},
		{"completed", call, `"status":"queued"`, model.KindServer},
		{"completed", call, `"status":"completed","error":{"code":"server_error","message":"boom"}`, model.KindServer},
		{"completed", call, `"status":"completed","error":"the engine died"`, model.KindServer},
		{"incomplete", call, `"status":"incomplete","error":{"code":"rate_limit_exceeded","message":"slow"}`, model.KindRateLimit},
		{"incomplete", call, `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, model.StopLength},
		{"incomplete", call, `"status":"incomplete","incomplete_details":{"reason":"content_filter"}`, model.StopRefusal},
		{"incomplete", text, `"status":"incomplete","incomplete_details":{"reason":"safety"}`, model.StopRefusal},
		{"completed", call, `"status":"completed","incomplete_details":{"reason":"safety"}`, model.StopRefusal},
		{"incomplete", call, `"status":"incomplete","incomplete_details":{"reason":"reason_of_tomorrow"}`, model.StopRefusal},
		{"failed", call, `"status":"completed"`, model.KindServer},
		{"", call, `"object":"response"`, model.KindConnection}, // of a server that does not stream
		{"", text, `"object":"response"`, model.StopEnd},
	} {
		body := `{` + c.members + `,"id":"r","model":"m","output":[` + c.item + `]}`
		if c.event != "" {
			body = `{"type":"response.` + c.event + `","response":` + body + `}`
		}
		if got := endOf(t, openai.New, events(body)); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.event, c.members, got, c.want)
		}
	}
}
