package claudecli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
)

type object = map[string]any

// A world is the CLIs that a test starts. Each plays the next script.
type world struct {
	t       *testing.T
	mute    bool // the CLIs do not answer the first request
	mu      sync.Mutex
	scripts []func(*fake)
	fakes   []*fake
}

// newWorld returns a model whose CLIs play the scripts.
func newWorld(t *testing.T, opts *claudecli.Options, scripts ...func(*fake)) (*world, *claudecli.Model) {
	w := &world{t: t, scripts: scripts}
	if opts == nil {
		opts = &claudecli.Options{}
	}
	if opts.CLI == nil {
		opts.CLI = &claude.Options{}
	}
	opts.CLI.Start = w.start
	m := claudecli.New("sonnet", opts)
	t.Cleanup(func() { w.ended(m.Close()) })
	return w, m
}

func (w *world) start(_ context.Context, how *claude.Command) (claude.Transport, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.scripts) == 0 {
		w.t.Error("another CLI was started")
		return nil, io.ErrUnexpectedEOF
	}
	f := &fake{t: w.t, how: how, input: make(chan []byte, 100), output: make(chan []byte), closed: make(chan struct{}), over: make(chan struct{})}
	script := w.scripts[0]
	w.scripts, w.fakes = w.scripts[1:], append(w.fakes, f)
	go func() {
		defer close(f.over)
		defer func() {
			if r := recover(); r != nil && r != errGone {
				panic(r)
			}
		}()
		if w.mute {
			f.take(func(object) bool { return false })
		}
		f.initialize()
		script(f)
	}()
	return f, nil
}

// ended fails the test if a CLI still runs, or if one was not started.
func (w *world) ended(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.t.Errorf("close the model: %v", err)
	}
	for i, f := range w.fakes {
		select {
		case <-f.closed:
		default:
			w.t.Errorf("CLI %d still runs", i)
		}
	}
	if len(w.scripts) > 0 {
		w.t.Errorf("%d CLIs were not started", len(w.scripts))
	}
}

func (w *world) running() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.fakes {
		select {
		case <-f.closed:
		default:
			n++
		}
	}
	return n
}

// A fake is a CLI in this process.
type fake struct {
	t      *testing.T
	how    *claude.Command
	input  chan []byte
	output chan []byte
	once   sync.Once
	closed chan struct{}
	over   chan struct{} // the script has ended

	opening object // the initialize request
	queue   []object
	failure error
}

const errGone = "the CLI was closed"

func (f *fake) ReadLine() ([]byte, error) {
	select {
	case line := <-f.output:
		return line, nil
	case <-f.closed:
		return nil, io.EOF
	case <-f.over:
		if f.failure != nil {
			return nil, f.failure
		}
		<-f.closed // a CLI ends when its input does
		return nil, io.EOF
	}
}

func (f *fake) WriteLine(line []byte) error {
	select {
	case f.input <- append([]byte(nil), line...):
		return nil
	case <-f.closed:
		return io.ErrClosedPipe
	}
}

func (f *fake) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

// write writes lines.
func (f *fake) write(lines ...any) {
	for _, l := range lines {
		data, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		select {
		case f.output <- data:
		case <-f.closed:
			panic(errGone)
		}
	}
}

// take returns the first line that matches. It answers interrupts.
func (f *fake) take(match func(object) bool) object {
	for {
		for i, l := range f.queue {
			if match(l) {
				f.queue = append(f.queue[:i], f.queue[i+1:]...)
				return l
			}
		}
		select {
		case data := <-f.input:
			var l object
			if err := json.Unmarshal(data, &l); err != nil {
				panic(err)
			}
			if at(l, "request", "subtype") == "interrupt" {
				f.write(object{"type": "control_response", "response": object{"subtype": "success", "request_id": l["request_id"], "response": object{}}})
				continue
			}
			f.queue = append(f.queue, l)
		case <-f.closed:
			panic(errGone)
		}
	}
}

func at(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func (f *fake) initialize() {
	f.opening = f.take(func(l object) bool { return at(l, "request", "subtype") == "initialize" })
	f.write(object{"type": "control_response", "response": object{"subtype": "success", "request_id": f.opening["request_id"],
		"response": object{"commands": []any{}, "models": []any{}, "claude_code_version": "2.1.329"}}})
}

// prompt takes a prompt and returns its blocks, those of text as they are.
func (f *fake) prompt() (texts []string) {
	l := f.take(func(l object) bool { return l["type"] == "user" })
	blocks, _ := at(l, "message", "content").([]any)
	for _, b := range blocks {
		if text, ok := at(b, "text").(string); ok {
			texts = append(texts, text)
		} else {
			data, _ := json.Marshal(b)
			texts = append(texts, string(data))
		}
	}
	return texts
}

var counter = object{"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 5,
	"cache_creation": object{"ephemeral_1h_input_tokens": 4, "ephemeral_5m_input_tokens": 1}}

func event(e object) object {
	return object{"type": "stream_event", "event": e, "session_id": "s", "api_message_id": "msg_1", "parent_tool_use_id": nil}
}

func frame(blocks ...object) object {
	return object{"type": "assistant", "session_id": "s", "parent_tool_use_id": nil, "message": object{
		"id": "msg_1", "model": "claude-sonnet-9", "role": "assistant", "stop_reason": nil, "content": blocks, "usage": counter}}
}

// say streams a message of blocks, as the CLI does.
func (f *fake) say(stop string, blocks ...object) {
	f.write(event(object{"type": "message_start", "message": object{"usage": counter}}))
	for i, b := range blocks {
		f.block(i, b)
	}
	f.write(event(object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 7}}),
		event(object{"type": "message_stop"}))
}

func (f *fake) block(i int, b object) {
	start, delta := object{}, object(nil)
	for k, v := range b {
		start[k] = v
	}
	switch b["type"] {
	case "text":
		start["text"], delta = "", object{"type": "text_delta", "text": b["text"]}
	case "thinking":
		start["thinking"], delta = "", object{"type": "thinking_delta", "thinking": b["thinking"]}
	case "tool_use":
		data, _ := json.Marshal(b["input"])
		start["input"], delta = object{}, object{"type": "input_json_delta", "partial_json": string(data)}
	}
	f.write(event(object{"type": "content_block_start", "index": i, "content_block": start}))
	if delta != nil {
		f.write(event(object{"type": "content_block_delta", "index": i, "delta": delta}))
	}
	f.write(frame(b), event(object{"type": "content_block_stop", "index": i}))
}

func text(s string) object { return object{"type": "text", "text": s} }

func use(id, name string, input object) object {
	return object{"type": "tool_use", "id": id, "name": "mcp__tools__" + name, "input": input}
}

// result ends the turn.
func (f *fake) result(text string, more object) {
	r := object{"type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "s", "stop_reason": "end_turn", "usage": object{"input_tokens": 999}}
	for k, v := range more {
		r[k] = v
	}
	f.write(r)
}

// call calls a tool. It does not wait.
func (f *fake) call(id, tool string, input object) {
	f.write(object{"type": "control_request", "request_id": "call_" + id, "request": object{
		"subtype": "mcp_message", "server_name": "tools", "message": object{"jsonrpc": "2.0", "id": "rpc_" + id, "method": "tools/call",
			"params": object{"name": tool, "arguments": input, "_meta": object{"claudecode/toolUseId": id}}}}})
}

// answer waits for the result of a call, as "text" or "error: text". The hook of
// a success may replace it.
func (f *fake) answer(id string) string {
	l := f.take(func(l object) bool { return at(l, "response", "request_id") == "call_"+id })
	var texts []string
	r := at(l, "response", "response", "mcp_response", "result")
	parts, _ := at(r, "content").([]any)
	for _, p := range parts {
		texts = append(texts, fmt.Sprint(at(p, "text")))
	}
	if at(r, "isError") == true {
		return "error: " + strings.Join(texts, "|")
	}
	hooks, _ := at(f.opening, "request", "hooks", "PostToolUse").([]any)
	f.write(object{"type": "control_request", "request_id": "hook_" + id, "request": object{
		"subtype": "hook_callback", "callback_id": at(hooks[0], "hookCallbackIds").([]any)[0], "tool_use_id": id,
		"input": object{"hook_event_name": "PostToolUse", "tool_use_id": id, "tool_name": "x"}}})
	l = f.take(func(l object) bool { return at(l, "response", "request_id") == "hook_"+id })
	if replaced := at(l, "response", "response", "hookSpecificOutput", "updatedToolOutput"); replaced != nil {
		data, _ := json.Marshal(replaced)
		return string(data)
	}
	return strings.Join(texts, "|")
}

// respond reads a stream to its end.
func respond(t *testing.T, m model.Model, r *model.Request) (*model.Response, string) {
	t.Helper()
	var response *model.Response
	var deltas strings.Builder
	for d, err := range m.Stream(t.Context(), r) {
		switch {
		case err != nil:
			t.Fatal(err)
		case d.Tokens != nil && d.Restart == nil:
		case d.Response != nil:
			response = d.Response
		case d.Restart != nil:
			fmt.Fprintf(&deltas, "restart(%s) ", d.Restart.Kind)
		default:
			fmt.Fprintf(&deltas, "%d:%s:%s:%s ", d.Part, d.Type, d.Name, d.Text)
		}
	}
	if response == nil {
		t.Fatal("the stream has no response")
	}
	return response, strings.TrimSpace(deltas.String())
}

// tools returns a set of one tool, which the model only sees.
func tools(t *testing.T) *toolpost.Set {
	t.Helper()
	add := toolpost.New("add", "Adds.", func(context.Context, struct{ A, B int }) (int, error) { panic("the agent runs tools") }, nil)
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{add})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func assistant(r *model.Response) *model.Message { return r.Message }

// results returns the user's message with the results.
func results(all ...*toolpost.ToolMessage) *model.Message {
	m := &model.Message{Role: model.RoleUser}
	for _, r := range all {
		m.Parts = append(m.Parts, model.Part{Type: model.TypeResult, Result: r})
	}
	return m
}
