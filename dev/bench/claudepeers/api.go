package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

// An api is the Messages API on loopback. The scenario answers.
type api struct {
	*httptest.Server

	mu     sync.Mutex
	heard  []string // the requests
	first  time.Time
	asked  time.Time       // when a call of a tool was sent last
	rounds []time.Duration // from there to the request with its result
}

// A request is one to the model, with the answer to it.
type request struct {
	Model    string
	Messages []struct{ Content json.RawMessage }

	api  *api
	body string
	w    http.ResponseWriter
	n    int // blocks that were written
}

func newAPI(answer func(*request)) *api {
	a := &api{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came := time.Now()
		body, err := io.ReadAll(r.Body)
		in := &request{api: a, body: string(body), w: w}
		switch {
		case err != nil: // the CLI has gone
		case strings.HasSuffix(r.URL.Path, "/count_tokens"):
			fmt.Fprint(w, `{"input_tokens":1}`)
		case json.Unmarshal(body, in) != nil || len(in.Messages) == 0:
			http.NotFound(w, r)
		default:
			a.note(in, came)
			answer(in)
		}
	}))
	return a
}

func (a *api) note(in *request, came time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = append(a.heard, in.body)
	if a.first.IsZero() {
		a.first = came
	}
	if !a.asked.IsZero() {
		a.rounds = append(a.rounds, came.Sub(a.asked))
		a.asked = time.Time{}
	}
}

// saw reports whether a request contains a text.
func (a *api) saw(text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, body := range a.heard {
		if strings.Contains(body, text) {
			return true
		}
	}
	return false
}

func (r *request) has(text string) bool { return strings.Contains(r.body, text) }

// about reports whether the conversation begins with a text.
func (r *request) about(text string) bool {
	return strings.Contains(string(r.Messages[0].Content), text)
}

// results counts the results of tools.
func (r *request) results() int { return strings.Count(r.body, `"tool_result"`) }

func (r *request) events(events ...object) {
	r.w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err) // a literal
		}
		fmt.Fprintf(r.w, "event: %s\ndata: %s\n\n", e["type"], data)
	}
}

var usage = object{"input_tokens": 10, "output_tokens": 5}

func (r *request) begin() {
	r.events(object{"type": "message_start", "message": object{
		"id": fmt.Sprint("msg_", time.Now().UnixNano()), "type": "message", "role": "assistant", "model": r.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
}

func (r *request) block(block object, deltas ...object) {
	r.events(object{"type": "content_block_start", "index": r.n, "content_block": block})
	for _, d := range deltas {
		r.events(object{"type": "content_block_delta", "index": r.n, "delta": d})
	}
	r.events(object{"type": "content_block_stop", "index": r.n})
	r.n++
}

func (r *request) end(reason string) {
	r.events(object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage},
		object{"type": "message_stop"})
}

// say answers with text.
func (r *request) say(text string) {
	r.begin()
	r.text(text)
	r.end("end_turn")
}

func (r *request) text(text string) {
	var deltas []object
	for ; len(text) > 10000; text = text[10000:] {
		deltas = append(deltas, object{"type": "text_delta", "text": text[:10000]})
	}
	r.block(object{"type": "text", "text": ""}, append(deltas, object{"type": "text_delta", "text": text})...)
}

// call answers with n calls of a tool.
func (r *request) call(n int, tool, arguments string) {
	r.begin()
	for range n {
		r.block(object{"type": "tool_use", "id": fmt.Sprint("toolu_", time.Now().UnixNano()), "name": tool, "input": object{}},
			object{"type": "input_json_delta", "partial_json": arguments})
	}
	r.api.mu.Lock()
	r.api.asked = time.Now()
	r.api.mu.Unlock()
	r.end("tool_use")
}
