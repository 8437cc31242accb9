package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
)

// A canned is a transport that answers every request with the same response.
type canned struct {
	status int
	header http.Header
	body   io.Reader
	seen   *http.Request // the last request
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.seen = r
	header := c.header
	if header == nil {
		header = http.Header{"Content-Type": {"text/event-stream"}}
	}
	return &http.Response{StatusCode: max(c.status, http.StatusOK), Header: header, Body: io.NopCloser(c.body), Request: r}, nil
}

// events returns a stream of events, each named by its type.
func events(all ...string) string {
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

// A reader is a model that reads streams of tests.
type reader struct {
	model.Model
	transport *canned
}

func newReader() *reader {
	c := new(canned)
	return &reader{anthropic.New("claude-opus-5-5", &anthropic.Options{APIKey: modeltest.Key, HTTPClient: &http.Client{Transport: c}}), c}
}

// stream returns the response that a stream gives.
func stream(t *testing.T, m *reader, body io.Reader, set *toolpost.Set) (*model.Response, error) {
	t.Helper()
	m.transport.body = body
	var response *model.Response
	for delta, err := range m.Stream(context.Background(), &model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Tools: set}) {
		if err != nil {
			return nil, err
		}
		response = delta.Response
	}
	return response, nil
}

const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":7,"cache_read_input_tokens":null}}}`
	messageDelta = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":1e3}}`
	messageStop  = `{"type":"message_stop"}`
)

// A streamed is a part of a response, as tests write it.
type streamed struct {
	Type                           model.PartType
	Text, Name, ID, Arguments, Raw string
}

// TestBlocks has the deltas of one block and the part that they become.
func TestBlocks(t *testing.T) {
	set := newSet(t, 0)
	for name, c := range map[string]struct {
		start  string
		deltas []string
		want   streamed
	}{
		"text": {`{"text":"A","type":"text","x":[1.0, 2]}`, []string{`{"type":"text_delta","text":"\u00fc \"b\"","note":"n"}`},
			streamed{Type: "text", Text: `Aü "b"`, Raw: `{"text":"A\u00fc \"b\"","type":"text","x":[1.0, 2]}`}},
		"two halves of a character": {`{"type":"text"}`, []string{`{"type":"text_delta","text":"\ud83d"}`, `{"type":"text_delta","text":"\ude00"}`},
			streamed{Type: "text", Text: "😀", Raw: `{"type":"text","text":"\ud83d\ude00"}`}},
		"half of a character": {`{"type":"text","text":""}`, []string{`{"type":"text_delta","text":"a\ud83d"}`},
			streamed{Type: "text", Text: "a\uFFFD"}},
		"citations": {`{"type":"text","text":"","citations":null}`,
			[]string{`{"type":"text_delta","text":"a"}`, `{"type":"citations_delta","citation":{"n": 1}}`, `{"type":"citations_delta","citation":{"n":2}}`, `{"type":"citations_delta"}`},
			streamed{Type: "text", Text: "a", Raw: `{"type":"text","text":"a","citations":[{"n": 1},{"n":2}]}`}},
		"more citations": {`{"type":"text","text":"a","citations":[{"n":0}]}`, []string{`{"type":"citations_delta","citation":{"n":1}}`},
			streamed{Type: "text", Text: "a", Raw: `{"type":"text","text":"a","citations":[{"n":0},{"n":1}]}`}},
		"thinking": {`{"type":"thinking","thinking":"","signature":""}`,
			[]string{`{"type":"thinking_delta","thinking":"Hm.","estimated_tokens":3}`, `{"type":"signature_delta","signature":"s"}`, `{"type":"future_delta","more":"x"}`},
			streamed{Type: "thinking", Text: "Hm.", Raw: `{"type":"thinking","thinking":"Hm.","signature":"s"}`}},
		"redacted thinking": {`{"type":"redacted_thinking","data":"d"}`, nil, streamed{Type: "thinking", Raw: `{"type":"redacted_thinking","data":"d"}`}},
		"call": {`{"type":"tool_use","id":"t","name":"city_weather_pngrom","input":{}}`,
			[]string{`{"type":"input_json_delta","partial_json":"{\"ci"}`, `{"type":"input_json_delta","partial_json":"ty\": \"Oslo\"}"}`},
			streamed{Type: "tool_call", ID: "t", Name: "city.weather", Arguments: `{"city": "Oslo"}`,
				Raw: `{"type":"tool_use","id":"t","name":"city_weather_pngrom","input":{"city": "Oslo"}}`}},
		"call without deltas": {`{"type":"tool_use","id":"t","name":"city_weather_pngrom","input":{"city":"A"}}`, nil,
			streamed{Type: "tool_call", ID: "t", Name: "city.weather", Arguments: `{"city":"A"}`,
				Raw: `{"type":"tool_use","id":"t","name":"city_weather_pngrom","input":{"city":"A"}}`}},
		"unknown block": {`{"type":"compaction","content":null,"n":1}`, []string{`{"type":"compaction_delta","content":"a","extra":{"b":2}}`, `{"type":"compaction_delta","content":"b","n":2}`},
			streamed{Type: "opaque", Text: "compaction", Raw: `{"type":"compaction","content":"ab","n":2,"extra":{"b":2}}`}},
		"block without type": {`{"a":1}`, nil, streamed{Type: "opaque", Raw: `{"a":1}`}},
	} {
		t.Run(name, func(t *testing.T) {
			all := []string{messageStart, `{"type":"content_block_start","index":3,"content_block":` + c.start + `}`,
				`{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"of no block"}}`, `{"type":"content_block_delta","index":3}`}
			for _, d := range c.deltas {
				all = append(all, `{"type":"content_block_delta","index":3,"delta":`+d+`}`)
			}
			r, err := stream(t, newReader(), strings.NewReader(events(append(all, messageDelta, messageStop)...)), set)
			if err != nil {
				t.Fatal(err)
			}
			p := r.Message.Parts[0]
			if got := (streamed{p.Type, p.Text, p.Name, p.ID, string(p.Arguments), string(p.Raw)}); got != c.want || p.Invalid != "" {
				t.Errorf("the part is %+v, %s, want %+v", got, p.Invalid, c.want)
			}
			if r.ID != "msg_1" || r.Model != "claude" || r.Usage.Input != 7 || r.Usage.Output != 1000 {
				t.Errorf("the response is %+v", r)
			}
		})
	}
}

// TestInvalidCalls has calls that cannot run, and what the model reads about
// them.
func TestInvalidCalls(t *testing.T) {
	const start = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"city_weather_pngrom","input":{}}}`
	input := func(text string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + string(must(json.Marshal(text))) + `}}`
	}
	length := `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`
	for name, c := range map[string]struct {
		events []string
		want   string
		raw    string
	}{
		"cut off":         {[]string{start, input(`{"city":"O`), length}, "cut off", `{"INVALID_JSON":"{\"city\":\"O"}`},
		"nothing written": {[]string{start, length}, "cut off", `{}`},
		"not JSON":        {[]string{start, input(`{"city":}`), messageDelta}, "not a JSON object", `{"INVALID_JSON":"{\"city\":}"}`},
		"not an object":   {[]string{start, input(`["Oslo"]`), messageDelta}, "not a JSON object", `{"INVALID_JSON":"[\"Oslo\"]"}`},
		"wrong":           {[]string{start, input(`{}`), messageDelta}, "city", `{}`},
		"complete":        {[]string{start, input(`{"city":"O"}`), length}, "", `{"city":"O"}`},
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet(t, 0)
			r, err := stream(t, newReader(), strings.NewReader(events(append(c.events, messageStop)...)), set)
			if err != nil {
				t.Fatal(err)
			}
			p := r.Message.Parts[0]
			if (p.Invalid == "") != (c.want == "") || !strings.Contains(p.Invalid, c.want) || !strings.Contains(string(p.Raw), `"input":`+c.raw) {
				t.Errorf("the part is %+v, raw %s", p, p.Raw)
			}
			accepts(t, newReader(), r, set)
		})
	}
}

// TestCallsNeedIDs has calls without an id and with the same one.
func TestCallsNeedIDs(t *testing.T) {
	call := func(index int, id string) string {
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":"a b","input":{}}}`, index, id)
	}
	r, err := stream(t, newReader(), strings.NewReader(events(call(0, ""), call(1, "x"), call(2, "x"), call(3, "a b"), messageDelta, messageStop)), nil)
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, newReader(), r, nil)
}

// accepts checks that the conversation can continue after a response.
func accepts(t *testing.T, m model.Model, r *model.Response, set *toolpost.Set) {
	t.Helper()
	results := user()
	for _, c := range r.Message.Calls() {
		results.Parts = append(results.Parts, result(c.ID, toolpost.Failed.Resultf("no")))
	}
	results.Parts = append(results.Parts, textPart("Go on."))
	messages := []*model.Message{model.UserText("Hello."), r.Message, results}
	if len(r.Message.Parts) == 0 {
		messages = messages[:1]
	}
	if err := m.Check(&model.Request{Messages: messages, Tools: set, Effort: "high"}); err != nil {
		t.Errorf("the conversation cannot continue: %v", err)
	}
}

// endless is a stream that does not end: it repeats a text.
type endless struct{ text, rest string }

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		e.rest = e.text
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestHostileStreams has streams that grow without a limit or make no sense.
func TestHostileStreams(t *testing.T) {
	block := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	for name, c := range map[string]struct {
		body io.Reader
		kind model.ErrorKind
	}{
		"endless line":     {&endless{text: "data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, model.KindInvalid},
		"endless event":    {&endless{text: "data: " + strings.Repeat("a", 10_000) + "\n"}, model.KindInvalid},
		"endless comments": {&endless{text: ": " + strings.Repeat("a", 10_000) + "\n\n"}, model.KindInvalid},
		"endless blocks":   {&endless{text: events(block)}, model.KindInvalid},
		"not JSON":         {strings.NewReader(events(`{"type":`)), model.KindServer},
		"deep":             {strings.NewReader(events(strings.Repeat(`[`, 100_000))), model.KindServer},
		"block is a text":  {strings.NewReader(events(`{"type":"content_block_start","index":0,"content_block":"a"}`)), model.KindServer},
		"nothing":          {strings.NewReader(""), model.KindConnection},
		"web page":         {strings.NewReader("<html>\n\n</html>"), model.KindInvalid},
		"no end":           {strings.NewReader(events(messageStart, block, messageDelta)), model.KindConnection},
		"empty error":      {strings.NewReader(events(`{"type":"error"}`)), model.KindServer},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := stream(t, newReader(), c.body, nil)
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Kind != c.kind || r != nil {
				t.Errorf("the error is %v, want kind %s", err, c.kind)
			}
		})
	}
}

// TestAnyStream damages streams at random. Each fails, or the conversation can
// continue after it. This is a test, not a fuzz target, because the SDK takes
// ten minutes to compile for fuzzing.
func TestAnyStream(t *testing.T) {
	var b strings.Builder
	modeltest.Anthropic().Answer(&b, http.Header{}, &modeltest.Turn{Parts: []model.Part{
		{Type: model.TypeThinking, Text: "Hm."}, textPart("Hello."),
		{Type: model.TypeCall, ID: "t", Name: "city_weather_pngrom", Arguments: json.RawMessage(`{"city":"Oslo"}`)},
		{Type: model.TypeOpaque, Raw: json.RawMessage(`{"type":"server_tool_use","id":"a","input":{}}`)},
	}})
	seeds := []string{b.String(), events(messageStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_result","cache_control":{}}}`, messageStop)}
	words := []string{`""`, `null`, `0`, `-1e999`, `[]`, `{}`, `"\ud800"`, "\xff", "\n\n", `"type":"text",`, `"type":"tool_use",`, `"type":"thinking",`, `"type":"document",`,
		`"redacted_thinking"`, `"id":"a",`, `"index":1,`, `"input":7,`, `,"cache_control":{}`, `"max_tokens"`, `"pause_turn"`, `"message_stop"`, `"content_block_start"`}
	set, m := newSet(t, 0), newReader()
	random := rand.New(rand.NewPCG(1, 2))
	complete := 0
	for range 3000 {
		damaged := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			at := random.IntN(len(damaged))
			end := min(len(damaged), at+random.IntN(12)*random.IntN(2))
			damaged = damaged[:at] + words[random.IntN(len(words))] + damaged[end:]
		}
		if r, ok := survives(t, m, damaged, set); ok {
			complete++
			accepts(t, m, r, set)
		}
		if t.Failed() {
			t.Fatalf("the stream is %q", damaged)
		}
	}
	if complete < 100 {
		t.Errorf("only %d streams gave a response", complete)
	}
}

// survives reads a damaged stream; ok is false if it gave no response.
func survives(t *testing.T, m *reader, body string, set *toolpost.Set) (_ *model.Response, ok bool) {
	t.Helper()
	r, err := stream(t, m, strings.NewReader(body), set)
	var failed *model.Error
	switch {
	case err != nil && !errors.As(err, &failed):
		t.Errorf("the error is %T %v", err, err)
	case err == nil && r == nil:
		t.Error("there is neither a response nor an error")
	case err == nil:
		if _, err := json.Marshal(r.Message); err != nil {
			t.Errorf("the message cannot be stored: %v", err)
		}
		return r, true
	}
	return nil, false
}

// TestPause continues a response that the provider paused.
func TestPause(t *testing.T) {
	search := json.RawMessage(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q": "a"}}`)
	s := modeltest.Serve(t, modeltest.Anthropic(),
		modeltest.Turn{Parts: []model.Part{{Type: model.TypeOpaque, Raw: search}}, Stop: model.StopPause},
		modeltest.Turn{Parts: []model.Part{{Type: model.TypeOpaque, Raw: json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`)}, textPart("Found.")}},
		modeltest.Turn{Parts: []model.Part{textPart("Yes.")}})
	m := newModel(s.URL, "claude-opus-5-5", anthropic.Options{})
	r := &model.Request{Messages: []*model.Message{model.UserText("Search.")}}
	for _, want := range []model.StopReason{model.StopPause, model.StopEnd, model.StopEnd} {
		for delta, err := range m.Stream(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
			if got := delta.Response; got != nil {
				if got.Stop != want {
					t.Errorf("the stop is %q, want %q", got.Stop, want)
				}
				r.Messages = append(r.Messages, got.Message)
			}
		}
		if want == model.StopEnd {
			r.Messages = append(r.Messages, model.UserText("Sure?"))
		}
	}
	var last struct {
		Messages []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(s.Requests()[2], &last); err != nil {
		t.Fatal(err)
	}
	if len(last.Messages) != 3 || string(last.Messages[1].Content[0]) != string(search) || len(last.Messages[1].Content) != 3 {
		t.Errorf("the messages are %s", s.Requests()[2])
	}
}

// TestOffersAreKept adapts a set once, not for every request.
func TestOffersAreKept(t *testing.T) {
	set := newSet(t, 5)
	m := anthropic.New("claude-opus-5-5", &anthropic.Options{APIKey: modeltest.Key})
	r := &model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Tools: set}
	if err := m.Check(r); err != nil {
		t.Fatal(err)
	}
	often := testing.AllocsPerRun(10, func() { _ = m.Check(r) })
	once := testing.AllocsPerRun(3, func() {
		_ = anthropic.New("claude-opus-5-5", &anthropic.Options{APIKey: modeltest.Key}).Check(r)
	})
	if often > once/4 {
		t.Errorf("a request with known tools allocates %v times, the first one %v times", often, once)
	}
	runtime.KeepAlive(set)
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// TestErrorKinds has errors that the scenarios do not have.
func TestErrorKinds(t *testing.T) {
	type failure struct {
		Kind   model.ErrorKind
		Status int
		Text   string
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   failure
	}{
		"proxy":       {502, "<html>Bad gateway</html>", failure{model.KindServer, 502, "<html>Bad gateway</html>"}},
		"too large":   {413, `{"type":"error","error":{"type":"request_too_large","message":"m"}}`, failure{model.KindTooLong, 413, "m"}},
		"spend limit": {400, `{"error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`, failure{model.KindQuota, 400, "You have reached your specified API usage limits."}},
		"of a proxy":  {413, `{"error":{"type":"invalid_request_error","message":"m"}}`, failure{model.KindTooLong, 413, "m"}},
		"unavailable": {503, `{"error":{"message":"m"}}`, failure{model.KindOverloaded, 503, "m"}},
		"billing":     {402, `{"error":{"type":"billing_error","message":"m"}}`, failure{model.KindQuota, 402, "m"}},
		"no model":    {404, `{"error":{"type":"not_found_error","message":"model: m"}}`, failure{model.KindInvalid, 404, "model: m"}},
		"busy":        {529, ``, failure{model.KindOverloaded, 529, ""}},
		"redirect":    {307, ``, failure{model.KindInvalid, 307, "the server answered with HTTP status 307; check the base URL"}},
		"long":        {500, strings.Repeat("a", 5000), failure{model.KindServer, 500, strings.Repeat("a", 2000) + "…"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := anthropic.New("claude", &anthropic.Options{APIKey: modeltest.Key,
				HTTPClient: &http.Client{Transport: &canned{status: c.status, body: strings.NewReader(c.body), header: http.Header{}}}})
			for _, err := range m.Stream(context.Background(), &model.Request{Messages: []*model.Message{model.UserText("Hello.")}}) {
				var got *model.Error
				if !errors.As(err, &got) {
					t.Fatalf("the error is %v", err)
				}
				if diff := cmp.Diff(c.want, failure{got.Kind, got.Status, got.Text}); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestCompactionStop: a response that ends with its provider's summary goes on with the
// next request, as one that was paused.
func TestCompactionStop(t *testing.T) {
	r, err := stream(t, newReader(), strings.NewReader(events(messageStart,
		`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"So far"}}`,
		strings.Replace(messageDelta, "end_turn", "compaction", 1), messageStop)), nil)
	if err != nil || r.Stop != model.StopPause || string(r.Message.Parts[0].Raw) != `{"type":"compaction","content":"So far"}` {
		t.Errorf("%+v, %v", r, err)
	}
}
