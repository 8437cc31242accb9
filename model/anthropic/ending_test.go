package anthropic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// TestEnds: the calls of a response run only if it ended in a way that is known to be
// complete, and a turn is taken back only if the provider refused it.
func TestEnds(t *testing.T) {
	const call, text = `{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}`, `{"type":"text","text":"Hi"}`
	for _, c := range []struct {
		block, reason string
		want          any // the reason, or the kind of the error
	}{
		{call, `"end_turn"`, model.StopCalls}, {call, `"tool_use"`, model.StopCalls}, {call, `null`, model.KindConnection}, {text, `null`, model.StopEnd}, {call, `"pause_turn"`, model.StopCalls},
		{call, `"max_tokens"`, model.StopLength}, {call, `"model_context_window_exceeded"`, model.StopLength}, {call, `"length"`, model.StopLength},
		{call, `"refusal"`, model.StopRefusal}, {call, `"safety"`, model.StopRefusal}, {call, `"reason_of_tomorrow"`, model.StopRefusal},
		{call, `"error"`, model.KindServer},
		{text, `"end_turn"`, model.StopEnd}, {text, `"stop_sequence"`, model.StopEnd}, {text, `"reason_of_tomorrow"`, model.StopRefusal},
		{text, `"pause_turn"`, model.StopLength}, // nothing that the provider could go on with
		{`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, `"pause_turn"`, model.StopPause},
	} {
		r, err := stream(t, newReader(), strings.NewReader(events(messageStart, `{"type":"content_block_start","index":0,"content_block":`+c.block+`}`,
			strings.Replace(messageDelta, `"end_turn"`, c.reason, 1), messageStop)), nil)
		if failed, ok := errors.AsType[*model.Error](err); ok {
			if failed.Kind != c.want {
				t.Errorf("%s: %v", c.reason, err)
			}
			continue
		}
		if err != nil || r.Stop != c.want || (r.Refusal != "") != (c.want == model.StopRefusal) || r.TakeBack && strings.Contains(c.reason, "tomorrow") {
			t.Errorf("%s: %+v, %v", c.reason, r, err)
		}
	}
}

// TestDocument: a server that does not stream answers with the whole message, whatever
// type it gives it.
func TestDocument(t *testing.T) {
	const body = `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}],
		"stop_reason":"tool_use","usage":{"input_tokens":7,"output_tokens":3}}`
	for _, kind := range []string{"application/json", "text/plain", "text/event-stream", ""} {
		m := newReader()
		m.transport.header = http.Header{"Content-Type": {kind}}
		r, err := stream(t, m, strings.NewReader(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		calls := r.Message.Calls()
		if want := (usage.Tokens{Input: 7, Output: 3}); len(calls) != 1 || string(calls[0].Arguments) != `{"city":"Oslo"}` || r.Stop != model.StopCalls || r.Usage != want || r.Message.Text() != "Hi" {
			t.Errorf("%q: %+v", kind, r)
		}
	}
}

// TestForeignAnswers: an answer that is not one of the API is not asked for again, and
// errors are read in the forms that servers and proxies write.
func TestForeignAnswers(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       model.ErrorKind
		text       string
	}{
		{"text/html", "<html></html>", model.KindInvalid, "a web page"},
		{"application/json", "\n<html></html>", model.KindInvalid, "a web page"},
		{"text/plain", "It works!", model.KindInvalid, `"It works!"`},
		{"application/json", `{"object":"list"}`, model.KindInvalid, "base URL"},
		{"application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`, model.KindInvalid, "bad"},
		{"application/json", `{"error":{"message":"busy","type":"overloaded_error"}}`, model.KindOverloaded, "busy"},
		{"application/json", `{"id":"m","type":"mess`, model.KindConnection, "ended"},
		{"text/event-stream", events(messageStart, `{"error":"the engine died"}`), model.KindServer, "the engine died"},
	} {
		m := newReader()
		m.transport.header = http.Header{"Content-Type": {c.kind}}
		_, err := stream(t, m, strings.NewReader(c.body), nil)
		failed, _ := errors.AsType[*model.Error](err)
		if failed == nil || failed.Kind != c.want || !strings.Contains(failed.Text, c.text) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

// TestTwoEnds: the worst of several reasons counts, and none takes one back.
func TestTwoEnds(t *testing.T) {
	for _, c := range []struct {
		first, second string
		want          any // the reason, or the kind of the error
	}{
		{`"refusal"`, `"tool_use"`, model.StopRefusal}, {`"tool_use"`, `"refusal"`, model.StopRefusal},
		{`"refusal"`, `null`, model.StopRefusal}, {`"max_tokens"`, `"end_turn"`, model.StopLength},
		{`"max_tokens"`, `"refusal"`, model.StopRefusal}, {`"reason_of_tomorrow"`, `"tool_use"`, model.StopRefusal},
		{`"error"`, `"tool_use"`, model.KindServer}, {`"tool_use"`, `""`, model.StopCalls}, {`null`, `"tool_use"`, model.StopCalls},
	} {
		end := func(reason string) string { return strings.Replace(messageDelta, `"end_turn"`, reason, 1) }
		r, err := stream(t, newReader(), strings.NewReader(events(messageStart,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}`,
			end(c.first), end(c.second), messageStop)), nil)
		var got any
		if failed, ok := errors.AsType[*model.Error](err); ok {
			got = failed.Kind
		} else if err == nil {
			got = r.Stop
		}
		if got != c.want {
			t.Errorf("%s and %s: %s, want %s (%v)", c.first, c.second, got, c.want, err)
		}
	}
}

// TestDocumentWithoutEnd: of a message without a reason, calls do not run.
func TestDocumentWithoutEnd(t *testing.T) {
	m := newReader()
	m.transport.header = http.Header{"Content-Type": {"application/json"}}
	_, err := stream(t, m, strings.NewReader(`{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}`), nil)
	if failed, _ := errors.AsType[*model.Error](err); failed == nil || failed.Kind != model.KindConnection {
		t.Errorf("the error is %v", err)
	}
}
