package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing/synctest"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

type object = map[string]any

// at follows members of objects.
func at(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// A fakeCLI is a Claude CLI in this process that answers as its biller says, and that
// is cut off and breaks by chance.
type fakeCLI struct {
	b      *biller
	input  chan object
	output chan cliLine
	once   sync.Once
	closed chan struct{}
	over   chan struct{} // it has ended by itself, with failure
	exit   error
	answer func() // plays the answer to a prompt

	interrupted bool // guarded by b.mu, as the rest
	calls       int
	answered    map[string]object // answers to our requests, by id; of the player only
	cost        float64
}

// A cliLine is a line of output.
type cliLine struct {
	text   []byte
	stream bool   // it is not written after an interrupt
	tell   func() // called when it is read, with the lock
}

func (b *biller) startCLI(context.Context, *claude.Command) (claude.Transport, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.random.IntN(20) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	c := &fakeCLI{b: b, input: make(chan object, 1000), output: make(chan cliLine), closed: make(chan struct{}), over: make(chan struct{}), answered: map[string]object{}}
	c.answer = c.turn
	go c.run()
	return c, nil
}

func (c *fakeCLI) run() {
	defer close(c.over)
	defer func() {
		if r := recover(); r != nil && r != errGone {
			panic(r)
		}
	}()
	c.play()
}

const errGone = "the CLI was closed"

// ReadLine gives a line once everything else waits, so that what the client has not
// taken is known.
func (c *fakeCLI) ReadLine() ([]byte, error) {
	for {
		select {
		case l := <-c.output:
			if c.told(l) {
				return l.text, nil
			}
		case <-c.closed:
			return nil, io.EOF
		case <-c.over:
			if c.exit != nil {
				return nil, c.exit
			}
			<-c.closed
			return nil, io.EOF
		}
	}
}

// told notes what a line says. It reports whether the line is written.
func (c *fakeCLI) told(l cliLine) bool {
	c.b.turnstile <- struct{}{}
	synctest.Wait()
	<-c.b.turnstile
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	select {
	case <-c.closed:
		return false
	default:
	}
	if l.stream && c.interrupted {
		return false
	}
	if l.tell != nil {
		l.tell()
	}
	return true
}

func (c *fakeCLI) WriteLine(line []byte) error {
	var l object
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	if at(l, "request", "subtype") == "interrupt" {
		c.b.mu.Lock()
		c.interrupted = true
		c.b.mu.Unlock()
		go func() {
			select {
			case c.output <- cliLine{text: encode(object{"type": "control_response", "response": object{"subtype": "success", "request_id": l["request_id"], "response": object{}}})}:
			case <-c.closed:
			}
		}()
		return nil
	}
	select {
	case c.input <- l:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

func (c *fakeCLI) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a literal of this test
	}
	return data
}

func (c *fakeCLI) write(l cliLine) {
	select {
	case c.output <- l:
	case <-c.closed:
		panic(errGone)
	}
}

func (c *fakeCLI) take() object {
	select {
	case l := <-c.input:
		if l["type"] == "control_response" {
			id, _ := at(l, "response", "request_id").(string)
			c.answered[id] = l
		}
		return l
	case <-c.closed:
		panic(errGone)
	}
}

// chance is one in n.
func (c *fakeCLI) chance(n int) bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return c.b.random.IntN(n) == 0
}

func (c *fakeCLI) play() {
	for {
		l := c.take()
		switch {
		case at(l, "request", "subtype") == "initialize":
			if c.chance(30) {
				c.exit = &claude.ExitError{Code: 1, Stderr: "no login"}
				return
			}
			c.write(cliLine{text: encode(object{"type": "control_response", "response": object{"subtype": "success", "request_id": l["request_id"],
				"response": object{"commands": []any{}, "models": []any{}, "claude_code_version": "2.1.332"}}})})
		case l["type"] == "user":
			if c.answer(); c.exit != nil {
				return
			}
		}
	}
}

// turn answers a prompt: it asks the API until there are no more calls.
func (c *fakeCLI) turn() {
	for {
		c.b.mu.Lock()
		c.b.requests++
		turn := c.b.turn()
		c.b.mu.Unlock()
		if f := turn.Fail; f != nil {
			if f.Kind == model.KindOverloaded || f.Kind == model.KindServer {
				if f.Late {
					c.speak(turn, true)
				}
				c.write(cliLine{stream: true, text: encode(object{"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 1, "error_status": 529, "error": "overloaded", "session_id": "s"})})
				continue
			}
			c.result(object{"is_error": true, "result": "API Error: this is a test", "api_error_status": 400})
			return
		}
		if whole := c.speak(turn, false); c.exit != nil {
			return
		} else if !whole { // the stream of the API broke
			continue
		}
		calls := (&model.Message{Parts: turn.Parts}).Calls()
		if turn.Stop != "" || len(calls) == 0 {
			break
		}
		c.call(calls)
	}
	c.result(object{"result": "The end."})
}

func (c *fakeCLI) result(more object) {
	r := object{"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "usage": object{"input_tokens": 1}, "total_cost_usd": c.cost}
	for name, value := range more {
		r[name] = value
	}
	c.write(c.fault(cliLine{text: encode(r), stream: true}))
}

// speak writes a message of the API as the CLI does. It reports whether it is whole.
func (c *fakeCLI) speak(turn *modeltest.Turn, fails bool) (whole bool) {
	b := c.b
	w := httptest.NewRecorder()
	told := new(usage.Tokens)
	b.mu.Lock()
	b.told = append(b.told, told)
	id := fmt.Sprintf("msg_%d", b.requests)
	b.mu.Unlock()
	renamed := *turn
	renamed.Parts = nil
	for _, p := range turn.Parts {
		if p.Type == model.TypeCall {
			p.Name = "mcp__tools__" + p.Name
		}
		renamed.Parts = append(renamed.Parts, p)
	}
	modeltest.Anthropic().Answer(w, w.Header(), &renamed)
	block := 0
	for _, e := range bytes.Split(bytes.TrimSpace(w.Body.Bytes()), []byte("\n\n")) {
		_, data, _ := strings.Cut(string(e), "data: ")
		line := cliLine{stream: true, text: encode(object{"type": "stream_event", "session_id": "s", "api_message_id": id, "parent_tool_use_id": nil, "event": json.RawMessage(data)})}
		kind := at(decoded(data), "type")
		switch kind {
		case "message_start":
			line.tell = func() { *told = usage.Tokens{Input: turn.Tokens.Input, CacheRead: turn.Tokens.CacheRead} }
		case "message_delta":
			line.tell = func() { *told = turn.Tokens }
		case "message_stop":
			line.tell = func() {
				for _, call := range (&model.Message{Parts: turn.Parts}).Calls() {
					if turn.Stop == "" {
						b.complete[argument(call.Arguments)] = true
					}
				}
			}
		case "content_block_stop":
			c.write(c.fault(cliLine{stream: true, text: frame(id, turn, block)}))
			block++
		}
		if fails && block > 0 || kind != "message_stop" && c.chance(100) {
			return false
		}
		if c.chance(100) {
			if c.chance(2) {
				c.write(cliLine{text: line.text[:len(line.text)/2], stream: true})
			}
			c.exit = &claude.ExitError{Code: 1, Stderr: "out of memory"}
			return false
		}
		c.write(c.fault(line))
	}
	return !fails
}

// fault cuts a line off by chance; the lines after it come all the same.
func (c *fakeCLI) fault(l cliLine) cliLine {
	if c.chance(200) {
		return cliLine{text: l.text[:len(l.text)-1-len(l.text)/3], stream: true}
	}
	return l
}

func decoded(data string) (v any) {
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		panic(err) // this test has written it
	}
	return v
}

func argument(raw json.RawMessage) string {
	text, _ := at(decoded(string(raw)), "text").(string)
	return text
}

// frame is the line with a finished block.
func frame(id string, turn *modeltest.Turn, block int) []byte {
	p, content := turn.Parts[block], object{}
	switch p.Type {
	case model.TypeText:
		content = object{"type": "text", "text": p.Text}
	case model.TypeCall:
		content = object{"type": "tool_use", "id": p.ID, "name": "mcp__tools__" + p.Name, "input": p.Arguments}
	}
	return encode(object{"type": "assistant", "session_id": "s", "parent_tool_use_id": nil, "message": object{
		"id": id, "model": "claude-test", "role": "assistant", "stop_reason": nil, "content": []any{content},
		"usage": object{"input_tokens": turn.Tokens.Input, "cache_read_input_tokens": turn.Tokens.CacheRead, "output_tokens": 1}}})
}

// call calls the tools that there are, and waits for their answers.
func (c *fakeCLI) call(calls []*model.Part) {
	var ids []string
	for _, call := range calls {
		if call.Name == "unknown" { // the CLI itself answers that
			continue
		}
		c.calls++
		id := fmt.Sprintf("call %d", c.calls)
		ids = append(ids, id)
		c.write(c.fault(cliLine{stream: true, text: encode(object{"type": "control_request", "request_id": id, "request": object{
			"subtype": "mcp_message", "server_name": "tools", "message": object{"jsonrpc": "2.0", "id": id, "method": "tools/call",
				"params": object{"name": call.Name, "arguments": call.Arguments, "_meta": object{"claudecode/toolUseId": call.ID}}}}})}))
	}
	for _, id := range ids {
		for c.answered[id] == nil {
			c.take()
		}
	}
}
