//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A playbook is an endpoint of the Messages API on loopback whose every answer is
// given. It is for what happens between a model and the CLI; [model] is for
// what tools arrive.
type playbook struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	lines  []playbookLine       // what is left of it
	rest   func(apiRequest) say // answers what is not in it; says "done" if nil
	bodies []apiRequest
}

// A playbookLine is given once, to a request that contains a text.
type playbookLine struct {
	contains string
	say      say
}

// A say is an answer of the model.
type say func(a *apiAnswer)

type apiRequest struct {
	Model    string
	Stream   bool
	Max      int `json:"max_tokens"`
	Tools    []struct{ Name string }
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	body string
}

type apiAnswer struct {
	http.ResponseWriter
	r  *http.Request
	in apiRequest
}

// hold holds the answer back until the test releases it, or the CLI has gone.
func (a *apiAnswer) hold(release <-chan struct{}) {
	select {
	case <-release:
	case <-a.r.Context().Done():
	}
}

func newPlaybook(t *testing.T, says ...say) *playbook {
	s := &playbook{t: t}
	for _, f := range says {
		s.then("", f)
	}
	s.Server = listen(t, http.HandlerFunc(s.serve))
	return s
}

// then adds an answer to the first request that contains text.
func (s *playbook) then(text string, f say) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, playbookLine{text, f})
}

func (s *playbook) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		reply(w, object{"input_tokens": 1})
		return
	}
	a := &apiAnswer{ResponseWriter: w, r: r}
	if !(anthropic{}).knows(r) || json.Unmarshal(body, &a.in) != nil {
		s.t.Errorf("the CLI asked for %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	a.in.body = string(body)
	if !a.in.Stream && a.in.Max == 1 { // whether there is such a model
		text("yes")(a)
		return
	}
	s.next(a.in)(a)
}

func (s *playbook) next(in apiRequest) say {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, in)
	for i, l := range s.lines {
		if strings.Contains(in.body, l.contains) {
			s.lines = slices.Delete(s.lines, i, i+1)
			return l.say
		}
	}
	if s.rest != nil {
		return s.rest(in)
	}
	return text("done")
}

// requests are those that were made.
func (s *playbook) requests() []apiRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// heard says how many requests contain a text.
func (s *playbook) heard(text string) (n int) {
	for _, r := range s.requests() {
		if strings.Contains(r.body, text) {
			n++
		}
	}
	return n
}

// result is what the model got of a call, in JSON; empty if nothing.
func (s *playbook) result(id string) string {
	for _, r := range s.requests() {
		for _, m := range r.Messages {
			var blocks []struct {
				ID      string `json:"tool_use_id"`
				Content json.RawMessage
			}
			if json.Unmarshal(m.Content, &blocks) != nil {
				continue // a text
			}
			for _, b := range blocks {
				if b.ID == id {
					return string(b.Content)
				}
			}
		}
	}
	return ""
}

// send writes events of the stream at once.
func (a *apiAnswer) send(e ...any) {
	events(a.ResponseWriter, e...)
	a.ResponseWriter.(http.Flusher).Flush()
}

var apiUsage = object{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

func (a *apiAnswer) start() {
	a.send(object{"type": "message_start", "message": object{"id": fmt.Sprintf("msg_%d", time.Now().UnixNano()), "type": "message", "role": "assistant",
		"model": a.in.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": apiUsage}})
}

func (a *apiAnswer) block(i int, block object, deltas ...object) {
	a.send(object{"type": "content_block_start", "index": i, "content_block": block})
	for _, d := range deltas {
		a.send(object{"type": "content_block_delta", "index": i, "delta": d})
	}
	a.send(object{"type": "content_block_stop", "index": i})
}

func (a *apiAnswer) stop(reason string) {
	a.send(object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": apiUsage}, object{"type": "message_stop"})
}

func textDelta(s string) object { return object{"type": "text_delta", "text": s} }

// text says something, in pieces.
func text(pieces ...string) say {
	return func(a *apiAnswer) {
		if !a.in.Stream {
			reply(a.ResponseWriter, object{"id": "msg_1", "type": "message", "role": "assistant", "model": a.in.Model, "usage": apiUsage,
				"stop_reason": "end_turn", "stop_sequence": nil, "content": []any{object{"type": "text", "text": strings.Join(pieces, "")}}})
			return
		}
		a.start()
		var deltas []object
		for _, p := range pieces {
			deltas = append(deltas, textDelta(p))
		}
		a.block(0, object{"type": "text", "text": ""}, deltas...)
		a.stop("end_turn")
	}
}

// A use is a call of a tool.
type use struct {
	id, name string
	input    any
}

// uses calls tools, all at once.
func uses(all ...use) say {
	return func(a *apiAnswer) {
		a.start()
		for i, u := range all {
			a.block(i, object{"type": "tool_use", "id": u.id, "name": u.name, "input": object{}},
				object{"type": "input_json_delta", "partial_json": marshal(u.input)})
		}
		a.stop("tool_use")
	}
}

// failing answers with a status.
func failing(status int, kind, text string) say {
	return func(a *apiAnswer) {
		a.Header().Set("Content-Type", "application/json")
		a.WriteHeader(status)
		io.WriteString(a.ResponseWriter, marshal(object{"type": "error", "error": object{"type": kind, "message": text}})) //nolint:errcheck // the client may have gone
	}
}

// breaking ends the connection in the middle.
func breaking(a *apiAnswer) {
	a.start()
	a.send(object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		object{"type": "content_block_delta", "index": 0, "delta": textDelta("half a ")})
	panic(http.ErrAbortHandler)
}

// silent tells that it was asked, and does not answer.
func silent(asked chan<- struct{}) say {
	return func(a *apiAnswer) {
		asked <- struct{}{}
		<-a.r.Context().Done()
	}
}

// talking says something and does not end.
func talking(said chan<- struct{}) say {
	return func(a *apiAnswer) {
		a.start()
		a.send(object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
			object{"type": "content_block_delta", "index": 0, "delta": textDelta("on and on ")})
		said <- struct{}{}
		<-a.r.Context().Done()
	}
}
