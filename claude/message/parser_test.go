package message_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/claude/message"
)

func parse(t *testing.T, line string) message.Message {
	t.Helper()
	m, err := quiet().Parse([]byte(line))
	if err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return m
}

func quiet() *message.Parser { return &message.Parser{Logger: slog.New(slog.DiscardHandler)} }

func logged() (*message.Parser, *strings.Builder) {
	var log strings.Builder
	return &message.Parser{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, &log
}

// requirement 2, FR-005, SC-003: what is not known is a value, is logged with its
// type and data, once, and does not end the stream.
func TestUnknownIsAValue(t *testing.T) {
	p, log := logged()
	stream := `{"type":"brand_new","data":{"x":1}}
{"type":"brand_new"}
{"type":"system","subtype":"brand_new","session_id":"s"}
{"type":"result","subtype":"error_brand_new","is_error":true}
{"type":"assistant","message":{"content":[{"type":"hologram","w":7},{"type":"text","text":"a","bold":true}]},"mood":"fine"}
{"type":"assistant","message":{"content":[{"type":"hologram"}]},"mood":"fine"}
`
	var all []message.Message
	for m, err := range p.Read(strings.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	first, ok := all[0].(*message.Unknown)
	if !ok || first.Type != "brand_new" || string(first.Extra["data"]) != `{"x":1}` {
		t.Errorf("the first is %#v", all[0])
	}
	if u, ok := all[2].(*message.Unknown); !ok || u.Subtype != "brand_new" || u.SessionID != "s" || string(u.Raw) != strings.Split(stream, "\n")[2] {
		t.Errorf("an unknown subtype is %#v", all[2])
	}
	if r, ok := all[3].(*message.Result); !ok || !r.IsError { // it ends a turn
		t.Errorf("a result of an unknown subtype is %#v", all[3])
	}
	a := all[4].(*message.Assistant)
	if b, ok := a.Content[0].(*message.UnknownBlock); !ok || b.Kind() != "hologram" || string(b.Raw) != `{"type":"hologram","w":7}` {
		t.Errorf("an unknown block is %#v", a.Content[0])
	}
	if got := string(a.Content[1].(*message.Text).Extra["bold"]); got != "true" {
		t.Errorf("an unknown member of a block is %q", got)
	}
	if got := string(a.Extra["mood"]); got != `"fine"` {
		t.Errorf("an unknown member is %q", got)
	}
	want := map[string]int{"brand_new": 2, "system/brand_new": 1, "result/error_brand_new": 1, "content_block/hologram": 2}
	if got := p.Unknown(); !maps.Equal(got, want) {
		t.Errorf("unknown are %v, want %v", got, want)
	}
	for text, n := range map[string]int{
		"level=WARN": 6, "level=DEBUG": 2, "type=brand_new ": 2, `{\"x\":1}`: 1, "content_block/hologram": 2,
		"field=assistant.mood": 1, "field=content_block/text.bold": 1,
	} {
		if got := strings.Count(log.String(), text); got != n {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, got, n, log)
		}
	}
}

// requirement 2, FR-006, SC-004: a known type with a missing or malformed field
// is an error that names it.
func TestMalformed(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"assistant"}`:                                                                    "message",
		`{"type":"assistant","message":{}}`:                                                       "message.content",
		`{"type":"assistant","message":{"content":null}}`:                                         "message.content",
		`{"type":"assistant","message":7}`:                                                        "message",
		`{"type":"assistant","message":{"content":7}}`:                                            "message.content",
		`{"type":"assistant","message":{"content":[7]}}`:                                          "message.content.0",
		`{"type":"assistant","message":{"content":[null]}}`:                                       "message.content.0",
		`{"type":"assistant","message":{"content":[{}]}}`:                                         "message.content.0.type",
		`{"type":"assistant","message":{"content":[{"type":5}]}}`:                                 "message.content.0.type",
		`{"type":"assistant","message":{"content":[{"type":"text"}]}}`:                            "message.content.0.text",
		`{"type":"assistant","message":{"content":[],"model":[]}}`:                                "message.model",
		`{"type":"assistant","message":{"content":[]},"aborted":"no"}`:                            "aborted",
		`{"type":"assistant","message":{"content":[]},"session_id":1}`:                            "session_id",
		`{"type":"user","message":{"role":"user"}}`:                                               "message.content",
		`{"type":"user","message":{"content":[{"type":"tool_result"}]}}`:                          "message.content.0.tool_use_id",
		`{"type":"result","subtype":"success"}`:                                                   "is_error",
		`{"type":"result","is_error":false}`:                                                      "subtype",
		`{"type":"result","subtype":7,"is_error":false}`:                                          "subtype",
		`{"type":"result","subtype":"success","is_error":1}`:                                      "is_error",
		`{"type":"result","subtype":"success","is_error":true,"errors":1}`:                        "errors",
		`{"type":"result","subtype":"success","is_error":true,"modelUsage":{"m":{"provider":1}}}`: "modelUsage.m.provider",
		`{"type":"stream_event","event":{}}`:                                                      "event.type",
		`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"x":1}}}`:  "event.content_block.type",
		`{"type":"system"}`:                "subtype",
		`{"type":"system","subtype":null}`: "subtype",
		`{"type":7}`:                       "type",
		`{}`:                               "type",
		`{"type":null}`:                    "type",
		`{"type":"x","uuid":{}}`:           "uuid",
		`{"type":"keep_alive","a":`:        "a",
		`{"type":"keep_alive"`:             "",
		`{"type":"keep_alive"} and more`:   "",
		`{"type":"system","subtype":true}`: "subtype",
		`["type"]`:                         "",
		`hello`:                            "",
		``:                                 "",
	} {
		m, err := new(message.Parser).Parse([]byte(line))
		var failure *message.ParseError
		switch {
		case !errors.As(err, &failure):
			t.Errorf("%s: %v, %v", line, m, err)
		case failure.Field != want || string(failure.Line) != line:
			t.Errorf("%s: field %q of %s, want %q: %v", line, failure.Field, failure.Line, want, err)
		case want != "" && !strings.Contains(err.Error(), `field "`+want+`"`):
			t.Errorf("%s: the text does not name the field: %v", line, err)
		}
	}
}

func TestParseErrorText(t *testing.T) {
	_, err := new(message.Parser).Parse([]byte(`{"type":"result","subtype":"success","is_error":true,"errors":1}`))
	const want = `read a message "result/success" of the claude CLI: field "errors" has a value of the wrong type: number; ` +
		`the CLI may be newer or older than this module: update one of them, or skip the message`
	if err.Error() != want {
		t.Errorf("the text is\n%v\nwant\n%s", err, want)
	}
	_, err = new(message.Parser).Parse([]byte(`{"type":"keep_alive"`))
	if !strings.HasPrefix(err.Error(), `read a message "keep_alive" of the claude CLI: it is not JSON: unexpected EOF; `) {
		t.Errorf("the text is %v", err)
	}
	_, err = new(message.Parser).Parse([]byte(`[]`))
	if !strings.HasPrefix(err.Error(), `read a line of the claude CLI: it is not a JSON object; `) {
		t.Errorf("the text is %v", err)
	}
	if errors.Unwrap(err) == nil {
		t.Error("there is no cause")
	}
	long := strings.Repeat("n", 5000)
	for _, line := range []string{`{"type":"` + long + `","uuid":7}`, `{"type":"odd","uuid":{"` + long + `":`} {
		if _, err := quiet().Parse([]byte(line)); err == nil || len(err.Error()) > 600 {
			t.Errorf("a long name makes a text of %d bytes: %.700v", len(err.Error()), err)
		}
	}
}

// requirement 2, FR-003 and user story 4: text blocks only, joined by newlines.
func TestText(t *testing.T) {
	for content, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: "a\nb",
		`[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},{"type":"tool_use","id":"i","name":"n","input":{"text":"x"}},{"type":"hologram","text":"h"},{"type":"text","text":"b"}]`: "a\nb",
		`[{"type":"tool_use","id":"i","name":"n","input":{}}]`: "",
		`[]`:      "",
		`"plain"`: "plain",
	} {
		if got := parse(t, `{"type":"assistant","message":{"content":`+content+`}}`).(*message.Assistant).Text(); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
		if got := parse(t, `{"type":"user","message":{"content":`+content+`}}`).(*message.User).Text(); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
	result := parse(t, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"i","content":"5"}]}}`).(*message.User).Content[0].(*message.ToolResult)
	if got := result.Text(); got != "5" || result.IsError {
		t.Errorf("the tool's result is %q", got)
	}
}

func TestSubagent(t *testing.T) {
	m := parse(t, `{"type":"assistant","message":{"content":[]},"parent_tool_use_id":"toolu_1","agent_id":"a","subagent_type":"general"}`).(*message.Assistant)
	if m.IsMain() || m.ParentToolUseID != "toolu_1" || m.AgentID != "a" || m.SubagentType != "general" {
		t.Errorf("the agent is %+v", m.Agent)
	}
	if m := parse(t, `{"type":"assistant","message":{"content":[]},"parent_tool_use_id":null,"agent_id":"a"}`).(*message.Assistant); m.IsMain() {
		t.Errorf("an agent without a call is %+v", m.Agent)
	}
	if m := parse(t, `{"type":"assistant","message":{"content":[]},"parent_tool_use_id":null}`).(*message.Assistant); !m.IsMain() {
		t.Errorf("the agent is %+v", m.Agent)
	}
}

func TestStreamEvent(t *testing.T) {
	for event, check := range map[string]func(m *message.StreamEvent) bool{
		`{"type":"message_start","message":{"usage":{"input_tokens":12}}}`: func(m *message.StreamEvent) bool {
			return m.Kind == "message_start" && m.Usage.InputTokens == 12
		},
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`: func(m *message.StreamEvent) bool {
			return m.Index == 1 && m.Block.Kind() == "text"
		},
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"x"}}`: func(m *message.StreamEvent) bool {
			return m.Delta.Type == "text_delta" && m.Delta.Text == "x" && m.Block == nil
		},
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`: func(m *message.StreamEvent) bool {
			return m.Delta.StopReason == "end_turn" && m.Usage.OutputTokens == 3
		},
		`{"type":"of_tomorrow"}`: func(m *message.StreamEvent) bool { return m.Kind == "of_tomorrow" },
	} {
		m := parse(t, `{"type":"stream_event","event":`+event+`}`).(*message.StreamEvent)
		if !check(m) || string(m.Event) != event {
			t.Errorf("%s: %+v", event, m)
		}
	}
}

// What the CLI copies from tools and models is not always clean.
func TestHostileLines(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	nested := strings.Repeat(`[{"type":"tool_result","tool_use_id":"i","content":`, 3000) + `"x"` + strings.Repeat("}]", 3000)
	for _, line := range []string{
		`{"type":"keep_alive","a":1,"a":2,"type":"keep_alive"}`,
		"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}}",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"\ud800"}]}}`,
		`{"type":"user","message":{"content":[]},"tool_use_result":` + deep + `}`,
		`{"type":"user","message":{"content":` + nested + `}}`,
		`{"type":"odd","x":` + deep + `}`,
		" \t{\"type\":\"keep_alive\"}\r\n",
	} {
		m, err := quiet().Parse([]byte(line))
		if err != nil {
			t.Errorf("%.80s: %v", line, err)
			continue
		}
		if !bytes.Equal(m.Head().Raw, bytes.TrimSpace([]byte(line))) {
			t.Errorf("%.80s: the raw bytes are %.80s", line, m.Head().Raw)
		}
	}
	if got := parse(t, "{\"type\":\"assistant\",\"message\":{\"content\":\"a\xffb\"}}").(*message.Assistant).Text(); got != "a\ufffdb" {
		t.Errorf("the text is %q", got)
	}
	content := parse(t, `{"type":"user","message":{"content":`+nested+`}}`).(*message.User).Content
	for depth := 0; ; depth++ {
		if _, ok := content[0].(*message.UnknownBlock); ok {
			break
		}
		content = content[0].(*message.ToolResult).Content
		if depth > 100 {
			t.Fatal("results within results are all read")
		}
	}
	abyss := []byte(`{"type":"odd","x":` + strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6) + `}`)
	if _, err := new(message.Parser).Parse(abyss); err == nil {
		t.Error("a million levels are no error")
	}
}

// requirement 2, FR-007: there is no global state; parsers are independent, and
// one may be shared.
func TestParallel(t *testing.T) {
	lines := written(t)
	shared := quiet()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, line := range append(lines, []byte(`{"type":"odd"}`)) {
				if _, err := shared.Parse(line); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := shared.Unknown()["odd"]; got != 8 {
		t.Errorf("unknown are %v", shared.Unknown())
	}
}

func TestRead(t *testing.T) {
	stream := "\ufeff{\"type\":\"keep_alive\"}\n[SandboxDebug] hello\n\n  {\"type\":\"keep_alive\"}\r\n{\"type\":\"assistant\"}\n\xff\n{\"type\":\"keep_alive\"}"
	var kinds []string
	for m, err := range new(message.Parser).Read(strings.NewReader(stream)) {
		if err != nil {
			kinds = append(kinds, "error")
			continue
		}
		kinds = append(kinds, m.Head().Type)
	}
	if got := strings.Join(kinds, " "); got != "keep_alive keep_alive error keep_alive" {
		t.Errorf("read %s", got)
	}
	broken := io.MultiReader(strings.NewReader("{\"type\":\"keep_alive\"}\n"), failing{})
	var last error
	for _, err := range new(message.Parser).Read(broken) {
		last = err
	}
	if !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Errorf("the error is %v", last)
	}
	for range new(message.Parser).Read(strings.NewReader(stream)) {
		break
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A line of megabytes is decoded once, and its parts are slices of it.
func TestLargeLine(t *testing.T) {
	text, err := json.Marshal(strings.Repeat("a line of the answer\n", 150_000))
	if err != nil {
		t.Fatal(err)
	}
	for name, line := range map[string][]byte{
		"assistant": []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":` + string(text) + `}]}}`),
		"result":    []byte(`{"type":"result","result":` + string(text) + `,"subtype":"success","is_error":false}`),
		"tool":      []byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"x"}]}]},"tool_use_result":` + string(text) + `}`),
		"unknown":   []byte(`{"type":"odd","x":` + string(text) + `}`),
	} {
		p := quiet()
		if _, err := p.Parse([]byte(`{"type":"keep_alive"}`)); err != nil { // it is set up by that
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := p.Parse(line); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(len(line))*16/5; got > most { // text is unquoted, then kept
			t.Errorf("%s: %d bytes are allocated for %d", name, got, len(line))
		}
		if kept := name == "tool" || name == "unknown"; kept && after.TotalAlloc-before.TotalAlloc > uint64(len(line))/10 {
			t.Errorf("%s: a part that is kept as it is was copied", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range written(f) {
		f.Add(line)
	}
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"hologram"}],"usage":{"input_tokens":"x"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := quiet().Parse(line)
		var failure *message.ParseError
		if (m == nil) != errors.As(err, &failure) || (m == nil) == (err == nil) {
			t.Fatalf("%v, %v", m, err)
		}
		if m != nil && !bytes.Equal(m.Head().Raw, bytes.TrimSpace(line)) {
			t.Errorf("the raw bytes are %s", m.Head().Raw)
		}
	})
}
