package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/usage"
)

// ask sends a request to a server that answers with the body of a response.
func ask(t testing.TB, build func(string, *openai.Options) model.Model, r *model.Request, header map[string]string, status int, body string) (*model.Response, string, error) {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer web.Close()
	var response *model.Response
	var deltas strings.Builder
	for d, err := range build("gpt-test", &openai.Options{BaseURL: web.URL, APIKey: modeltest.Key, Provider: "ollama"}).Stream(context.Background(), r) {
		if err != nil {
			return nil, deltas.String(), err
		}
		fmt.Fprintf(&deltas, "%d%s:%s|", d.Part, d.Type[:min(1, len(d.Type))], d.Text)
		response = d.Response
	}
	return response, deltas.String(), nil
}

func hello(t testing.TB) *model.Request {
	t.Helper()
	return &model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Tools: railwayTools(t)}
}

// events returns the chunks as server-sent events.
func events(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n"
}

// delta returns a chunk with a delta.
func delta(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

// TestCompatibleServers has what servers send that speak the Chat Completions
// API in their own ways.
func TestCompatibleServers(t *testing.T) {
	const weather = `{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}`
	const two = weather + ` {"id":"c2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bergen\"}"}}`
	for _, c := range []struct {
		name, body string
		stop       model.StopReason
		raws, text string
	}{
		{"no done, no empty line", strings.TrimSuffix(events(delta(`"content":"Hi"`), stop), "\n\n"), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"no reason", events(delta(`"content":"Hi"`), "[DONE]"), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"error null", events(`{"error":null,"choices":[{"delta":{"content":"Hi"},"index":0}]}`, stop), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"empty errors", events(`{"error":{},"choices":[{"delta":{"content":"H"},"index":0}]}`, `{"error":"","choices":[{"delta":{"content":"i"},"index":0}]}`, stop), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"line ends", strings.ReplaceAll(events(delta(`"content":"Hi"`), stop), "\n", "\r\n"), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"split escape", events(delta(`"content":"\ud83d"`), delta(`"content":"\udc4b"`), stop), model.StopEnd, `{"content":"\ud83d\udc4b"}`, "👋"},
		{"whole call, reason stop", events(delta(`"tool_calls":[`+weather+`]`), stop), model.StopCalls, weather, ""},
		{"no index", events(delta(`"tool_calls":[{"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}}]`),
			delta(`"tool_calls":[{"function":{"arguments":"\"Oslo\"}"}}]`), stop), model.StopCalls, weather, ""},
		{"two without index", events(delta(`"tool_calls":[`+strings.ReplaceAll(two, "} {", "},{")+`]`), stop), model.StopCalls, two, ""},
		{"two with one index", events(delta(`"tool_calls":[{"index":0,`+weather[1:]+`]`),
			delta(`"tool_calls":[{"index":0,"id":"c2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bergen\"}"}}]`), stop), model.StopCalls, two, ""},
		{"name again", events(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}}]`),
			delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"\"Oslo\"}"}}]`), stop), model.StopCalls, weather, ""},
		{"other id in a piece", events(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}}]`),
			delta(`"tool_calls":[{"index":0,"id":"c9","function":{"name":null,"arguments":"\"Oslo\"}"}}]`), stop), model.StopCalls, weather, ""},
		{"arguments as an object", events(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":{"city":"Oslo"}}}]`), stop), model.StopCalls, weather, ""},
		{"arguments as text in a text", events(delta(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":"\"{\\\"city\\\":\\\"Oslo\\\"}\""}}]`), stop), model.StopCalls, weather, ""},
		{"line ends of one character", strings.ReplaceAll(events(delta(`"content":"Hi"`), stop), "\n", "\r"), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"no empty lines", strings.ReplaceAll(events(delta(`"content":"H"`), delta(`"content":"i"`), stop), "\n\n", "\n"), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"interleaved", events(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}},{"index":1,"id":"c2","function":{"name":"weather","arguments":"{\"city\":"}}]`),
			delta(`"tool_calls":[{"index":1,"function":{"arguments":"\"Bergen\"}"}},{"index":0,"function":{"arguments":"\"Oslo\"}"}}]`), stop), model.StopCalls, two, ""},
		{"signature in a call", events(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}","x":1},"extra_content":{"s": "<"}}]`), stop),
			model.StopCalls, `{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}","x":1},"extra_content":{"s": "<"}}`, ""},
		{"reasoning", events(delta(`"reasoning_content":"H"`), delta(`"reasoning_content":"m.","content":null`), delta(`"content":"Hi"`), stop),
			model.StopEnd, `{"reasoning_content":"Hm."} {"content":"Hi"}`, "Hi"},
		{"reasoning and details", events(delta(`"reasoning":"Hm","reasoning_details":[{"a": 1}]`), delta(`"reasoning":".","reasoning_details":[{"b":2}]`), delta(`"content":"Hi"`), stop),
			model.StopEnd, `{"reasoning":"Hm."} {"reasoning_details":[{"a": 1},{"b":2}]} {"content":"Hi"}`, "Hi"},
		{"content as a list", events(delta(`"content":[{"type":"text","text":"H"}]`), delta(`"content":"i"`), stop),
			model.StopEnd, `{"content":[{"type":"text","text":"H"},{"type":"text","text":"i"}]}`, "Hi"},
		{"other choices", events(`{"choices":[{"index":1,"delta":{"content":"No"}}]}`, delta(`"content":"Hi"`), stop), model.StopEnd, `{"content":"Hi"}`, "Hi"},
		{"odd members", events(`{"choices":null,"usage":{}}`, `{"choices":[{"index":0,"delta":{"content":"Hi","audio":{"a":1},"tool_calls":"none"},"finish_reason":null,"logprobs":[]}]}`, stop),
			model.StopEnd, `{"content":"Hi"} {"audio":{"a":1}}`, "Hi"},
		{"refusal", events(delta(`"refusal":"No."`), stop), model.StopRefusal, `{"refusal":"No."}`, "No."},
		{"filter", events(delta(`"content":"Hi"`), strings.ReplaceAll(stop, `"stop"`, `"content_filter"`)), model.StopRefusal, `{"content":"Hi"}`, "Hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, deltas, err := ask(t, openai.NewChat, hello(t), nil, 200, c.body)
			if err != nil {
				t.Fatal(err)
			}
			var raws []string
			for _, p := range got.Message.Parts {
				raws = append(raws, string(p.Raw))
				if p.Invalid != "" {
					t.Errorf("the call is invalid: %s", p.Invalid)
				}
			}
			if raw := strings.Join(raws, " "); raw != c.raws || got.Stop != c.stop || got.Message.Text() != c.text {
				t.Errorf("stop %q, text %q, raw\n%s\nwant stop %q, text %q, raw\n%s\n(%s)", got.Stop, got.Message.Text(), raw, c.stop, c.text, c.raws, deltas)
			}
			sendAgain(t, got.Message)
		})
	}
}

// sendAgain checks that a response can be sent back.
func sendAgain(t testing.TB, m *model.Message) {
	t.Helper()
	r := hello(t)
	r.Messages = append(r.Messages, m)
	user := model.UserText("Go on.")
	for _, c := range m.Calls() {
		user.Parts = append(user.Parts, model.Part{Type: model.TypeResult, Result: toolpost.TextResult("Sunny").Message(c.ID)})
	}
	r.Messages = append(r.Messages, user)
	if err := openai.NewChat("gpt-test", &openai.Options{Provider: "ollama"}).Check(r); err != nil {
		t.Errorf("the response cannot be sent back: %v", err)
	}
}

// TestCompatibleCalls has calls that lack an id, or have arguments that are not
// an object.
func TestCompatibleCalls(t *testing.T) {
	for arguments, invalid := range map[string]string{
		`"{\"city\":\"Oslo\"}"`: "", `"{\"city\":"`: "not valid JSON", `"[1]"`: "invalid arguments", `""`: "invalid arguments", `null`: "invalid arguments",
	} {
		call := `{"index":0,"id":"","function":{"name":"weather","arguments":` + arguments + `}}`
		got, _, err := ask(t, openai.NewChat, hello(t), nil, 200, events(delta(`"tool_calls":[`+call+`,`+strings.Replace(call, "0", "1", 1)+`]`), stop))
		if err != nil {
			t.Fatal(err)
		}
		calls := got.Message.Calls()
		if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID {
			t.Fatalf("%s: the calls are %+v", arguments, calls)
		}
		if c := calls[0]; (c.Invalid == "") != (invalid == "") || !strings.Contains(c.Invalid, invalid) {
			t.Errorf("%s: invalid is %q, want %q", arguments, c.Invalid, invalid)
		}
		sendAgain(t, got.Message)
	}
}

// TestNoStream has a server that answers without streaming.
func TestNoStream(t *testing.T) {
	body := `{"id":"r1","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}}],
		"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":40}}`
	got, _, err := ask(t, openai.NewChat, hello(t), map[string]string{"Content-Type": "application/json"}, 200, body)
	if err != nil {
		t.Fatal(err)
	}
	if want := (usage.Tokens{Input: 60, CacheRead: 40, Output: 7}); got.Usage != want || got.Stop != model.StopCalls || got.ID != "r1" || got.Model != "m" {
		t.Errorf("the response is %+v", got)
	}
	if calls := got.Message.Calls(); len(calls) != 1 || string(calls[0].Arguments) != `{"city":"Oslo"}` {
		t.Errorf("the calls are %+v", calls)
	}
}

// TestErrors has errors as servers write them.
func TestErrors(t *testing.T) {
	late := func(chunk string) string { return events(delta(`"content":"Hi"`), chunk) }
	for _, c := range []struct {
		status int
		body   string
		kind   model.ErrorKind
		text   string
		wait   time.Duration
		header map[string]string
	}{
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, model.KindQuota, "You exceeded", 0, nil},
		{429, `{"error":{"message":"Rate limit reached. Please try again in 1.5s.","code":"rate_limit_exceeded"}}`, model.KindRateLimit, "Rate limit", 1500 * time.Millisecond, nil},
		{429, `{"error":{"message":"x"}}`, model.KindRateLimit, "x", 2 * time.Second, map[string]string{"Retry-After": "2"}},
		{429, `{"error":{"message":"x"}}`, model.KindRateLimit, "x", 250 * time.Millisecond, map[string]string{"Retry-After": "2", "Retry-After-Ms": "250"}},
		{429, `{"error":{"message":"x"}}`, model.KindRateLimit, "x", 20 * 24 * time.Hour, map[string]string{"Retry-After": "1e99"}},
		{429, `{"error":{"message":"x"}}`, model.KindRateLimit, "x", 0, map[string]string{"Retry-After": "NaN"}},
		{429, `{"error":{"message":"Rate limit reached. Please try again in 1m12.5s."}}`, model.KindRateLimit, "Rate limit", 72500 * time.Millisecond, nil},
		{429, `{"error":{"message":"Rate limit reached. Please try again in 6m0s."}}`, model.KindRateLimit, "Rate limit", 6 * time.Minute, nil},
		{429, `{"error":{"message":"Please try again in 2 minutes"}}`, model.KindRateLimit, "try", 2 * time.Minute, nil},
		{402, `{"error":{"message":"Insufficient Balance"}}`, model.KindQuota, "Insufficient", 0, nil},
		{503, `<html>busy</html>`, model.KindOverloaded, "<html>", 0, nil},
		{503, ``, model.KindOverloaded, "", 0, nil},
		{500, `{"error":"model requires more memory"}`, model.KindServer, "more memory", 0, nil},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, model.KindTooLong, "exceeds", 0, nil},
		{400, `{"object":"error","message":"This model's maximum context length is 8 tokens.","type":"BadRequestError"}`, model.KindTooLong, "maximum", 0, nil},
		{400, `[{"error":{"code":400,"message":"Bad schema","status":"INVALID_ARGUMENT"}}]`, model.KindInvalid, "Bad schema", 0, nil},
		{422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.KindInvalid, "field required", 0, nil},
		{404, `{"error":{"message":"model not found","code":"model_not_found"}}`, model.KindInvalid, "model not found", 0, nil},
		{403, `{}`, model.KindAuth, "", 0, nil},
		{401, `{"error":{"message":"Incorrect API key provided: ` + modeltest.Key + `","code":"invalid_api_key"}}`, model.KindAuth, "[secret]", 0, nil},
		{200, late(`{"error":{"code":502,"message":"Provider failed ` + modeltest.Key + `"}}`), model.KindServer, "[secret]", 0, nil},
		{200, late(`{"error":"overloaded"}`), model.KindOverloaded, "overloaded", 0, nil},
		{200, late(`{"error":"model runner has unexpectedly stopped"}`), model.KindServer, "unexpectedly", 0, nil},
		{200, late(`{"object":"error","message":"This model's maximum context length is 8 tokens.","type":"BadRequestError"}`), model.KindTooLong, "maximum", 0, nil},
		{200, late(`{"object":"error","message":"engine died"}`), model.KindServer, "engine died", 0, nil},
		{200, events(delta(`"content":"Hi"`)) + `error: {"code":500,"message":"out of memory","type":"server_error"}` + "\n\n", model.KindServer, "out of memory", 0, nil},
		{200, "<!DOCTYPE html><html></html>", model.KindInvalid, "web page", 0, map[string]string{"Content-Type": "text/html; charset=utf-8"}},
		{200, late(`{"detail":"the engine is dead"}`), model.KindServer, "dead", 0, nil},
		{200, late(`{"type":"error","message":"overloaded"}`), model.KindOverloaded, "overloaded", 0, nil},
		{200, late(`{"code":500,"message":"no"}`), model.KindServer, "no", 0, nil},
		{200, late(`{"code":"InternalError","message":"no","request_id":"1"}`), model.KindServer, "no", 0, nil},
		{200, late(`{"message":"gpu lost","type":"server_error"}`), model.KindServer, "gpu lost", 0, nil},
		{200, late(`{"errors":[{"message":"overloaded"}]}`), model.KindOverloaded, "overloaded", 0, nil},
		{200, late(`{"status":"error","message":"connection refused"}`), model.KindServer, "refused", 0, nil},
		{200, late(`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"the provider left"}}]}`), model.KindServer, "the provider left", 0, nil},
		{200, `[{"error":{"code":400,"message":"API key not valid"}}]`, model.KindInvalid, "not valid", 0, nil},
		{200, late("gpu lost"), model.KindConnection, "gpu lost", 0, nil},
		{302, "", model.KindInvalid, "redirects to https://login.example; check the base URL", 0, map[string]string{"Location": "https://login.example/x?token=1"}},
		{200, events(delta(`"content":"Hi"`)), model.KindConnection, "ended before", 0, nil},
		{200, events(delta(`"content":"Hi"`), `{"choices":[{"ind`), model.KindConnection, "not JSON", 0, nil},
		{200, "", model.KindConnection, "ended before", 0, nil},
		{200, events(delta(`"content":"Hi"`), strings.Replace(stop, `"stop"`, `"error"`, 1)), model.KindServer, "error", 0, nil},
		{200, strings.Repeat(": "+strings.Repeat("x", 1<<20)+"\n", 70), model.KindInvalid, "64 MiB", 0, nil},
		{200, strings.Repeat(events(delta(`"x":1`)), 10) + events(delta(manyMembers(3000))), model.KindInvalid, "2000 parts", 0, nil},
	} {
		_, _, err := ask(t, openai.NewChat, hello(t), c.header, c.status, c.body)
		var failed *model.Error
		if !errors.As(err, &failed) {
			t.Errorf("%d %.100s: the error is %v", c.status, c.body, err)
			continue
		}
		if failed.Kind != c.kind || failed.RetryAfter != c.wait || !strings.Contains(failed.Text, c.text) || strings.Contains(err.Error(), modeltest.Key) {
			t.Errorf("%d %.100s: the error is %+v", c.status, c.body, failed)
		}
		if c.status >= 400 && failed.Status != c.status {
			t.Errorf("%d: the status is %d", c.status, failed.Status)
		}
	}
}

func manyMembers(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"m%d":1`, i))
	}
	return strings.Join(all, ",")
}

// TestResponsesEvents has streams of the Responses API that differ from the
// usual one.
func TestResponsesEvents(t *testing.T) {
	const item = `{"id":"m1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"A"},{"type":"output_text","text":"B"}]}`
	completed := func(output string) string {
		return `{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[` + output + `]}}`
	}
	done := func(index int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
	}
	call := `{"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\":\"Oslo\"}","status":"completed"}`
	for _, c := range []struct {
		name, body, raws string
		stop             model.StopReason
		kind             model.ErrorKind
	}{
		{"only the whole", events(completed(item)), item, model.StopEnd, ""},
		{"only the items", events(done(0, item), completed("")), item, model.StopEnd, ""},
		{"an item is in both", events(done(0, strings.Replace(item, `"A"`, `"\u0041"`, 1)), completed(item)), strings.Replace(item, `"A"`, `"\u0041"`, 1), model.StopEnd, ""},
		{"after the end", events(completed(call), `{"type":"error"}`), call, model.StopCalls, ""},
		{"no end", events(done(0, item)), "", "", model.KindConnection},
		{"done", events(done(0, item), "[DONE]"), "", "", model.KindConnection},
		{"failed", events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Please try again in 2s."}}}`), "", "", model.KindRateLimit},
		{"failed without a reason", events(`{"type":"response.failed","response":{"status":"failed"}}`), "", "", model.KindServer},
		{"error", events(`{"type":"error","code":"server_error","message":"x"}`), "", "", model.KindServer},
		{"nested error", events(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"x"}}`), "", "", model.KindTooLong},
		{"error of a proxy", events(`{"error":{"message":"overloaded"}}`), "", "", model.KindOverloaded},
		{"filter", events(strings.Replace(completed(item), `"completed","output"`, `"incomplete","incomplete_details":{"reason":"content_filter"},"output"`, 1)), item, model.StopRefusal, ""},
		{"cancelled", events(strings.Replace(completed(call), `"completed","output"`, `"cancelled","output"`, 1)), "", "", model.KindServer},
		{"queued", events(strings.Replace(completed(call), `"completed","output"`, `"queued","output"`, 1)), "", "", model.KindServer},
		{"an error beside a type of its own", events(`{"message":"overloaded","code":500}`), "", "", model.KindOverloaded},
		{"no name", events(completed(`{"type":"function_call","call_id":"c"}`)), "", "", model.KindServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := ask(t, openai.New, hello(t), nil, 200, c.body)
			if failed, _ := errors.AsType[*model.Error](err); failed != nil || c.kind != "" {
				if failed == nil || failed.Kind != c.kind {
					t.Errorf("the error is %v, want %s", err, c.kind)
				}
				return
			}
			if got.Stop != c.stop || len(got.Message.Parts) != 1 || string(got.Message.Parts[0].Raw) != c.raws {
				t.Errorf("stop %q, parts %+v", got.Stop, got.Message.Parts)
			}
		})
	}
}

// TestOddArguments has calls of the Responses API whose arguments are not the text of
// an object. They go back as one.
func TestOddArguments(t *testing.T) {
	for arguments, valid := range map[string]bool{
		`{"city":"Oslo"}`: true, `"\"{\\\"city\\\":\\\"Oslo\\\"}\""`: true, `""`: false, `"{\"city\":"`: false, `"[1]"`: false, `null`: false,
	} {
		call := `{"type":"function_call","call_id":"c1","name":"weather","arguments":` + arguments + `}`
		body := `{"id":"r","object":"response","model":"m","status":"completed","output":[` + call + `]}` // of a server that does not stream
		got, _, err := ask(t, openai.New, hello(t), map[string]string{"Content-Type": "application/json"}, 200, body)
		if err != nil {
			t.Fatal(err)
		}
		calls := got.Message.Calls()
		if len(calls) != 1 || (calls[0].Invalid == "") != valid || valid && string(calls[0].Arguments) != `{"city":"Oslo"}` {
			t.Fatalf("%s: the calls are %+v", arguments, calls)
		}
		r := hello(t)
		r.Messages = append(r.Messages, got.Message, &model.Message{Role: model.RoleUser, Parts: []model.Part{{Type: model.TypeResult, Result: &toolpost.ToolMessage{CallID: "c1", Text: "Sunny"}}}})
		_, sent := send(t, openai.New, "m", openai.Options{APIKey: "k"}, r)
		if valid != strings.Contains(sent, `"arguments":"{\"city\":\"Oslo\"}"`) {
			t.Errorf("%s: sent %s", arguments, sent)
		}
	}
}

// TestRawBytes checks that the raw form of an item is what the server sent.
func TestRawBytes(t *testing.T) {
	const item = `{ "id":"rs_1",  "type":"reasoning", "summary":[ ], "x":[1.0, 1e2,"\u003c<\/"], "encrypted_content":"a\u003d=" }`
	got, _, err := ask(t, openai.New, hello(t), nil, 200, events(
		`{"type":"response.output_item.done","output_index":0,"item": `+item+` }`, `{"type":"response.completed","response":{"status":"completed","output":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if raw := string(got.Message.Parts[0].Raw); raw != item {
		t.Errorf("raw is\n%s, want\n%s", raw, item)
	}
}

// TestAnswer decodes structured answers from the form that strict mode needs.
func TestAnswer(t *testing.T) {
	for _, c := range []struct{ schema, wrote, want string }{
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`, `{"a":"x","b":null}`, `{"a":"x"}`},
		{`{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"integer"}}}`, `{"answer":[9007199254740993]}`, `[9007199254740993]`},
		{`{"type":"string"}`, `{"answer":"x"}`, `"x"`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `not JSON`, `not JSON`},
	} {
		r := hello(t)
		r.Output = schema.MustParse(c.schema)
		got, _, err := ask(t, openai.NewChat, r, nil, 200, events(delta(fmt.Sprintf(`"content":%q`, c.wrote)), stop))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
		} else if text := got.Message.Text(); text != c.want {
			t.Errorf("%s: the answer is %s, want %s", c.schema, text, c.want)
		}
	}
}

// TestRedirect has a server redirect the request. The conversation is not sent to
// the other server.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other server was asked") }))
	defer other.Close()
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer web.Close()
	m := openai.New("gpt-test", &openai.Options{APIKey: "k", BaseURL: web.URL, Provider: "openai"})
	for _, err := range m.Stream(t.Context(), &model.Request{Messages: []*model.Message{model.UserText("x")}}) {
		if failed, ok := errors.AsType[*model.Error](err); !ok || failed.Kind != model.KindInvalid || failed.Status != http.StatusTemporaryRedirect {
			t.Error(err)
		}
	}
}
