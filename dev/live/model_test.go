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
)

// A model is the endpoint of a language model on loopback. It speaks the wire
// format of one provider, remembers the tools of every request, and makes the
// calls of a script, each once and as soon as its tool is offered. Then it says
// "done".
type model struct {
	*httptest.Server

	mu       sync.Mutex
	script   []step // what is left of it
	requests []request
	strange  []string // requests the format does not know
}

// A request is one that the client made to the model.
type request struct {
	tools []offered
	body  string
}

// An offered tool is one as the client sent it to the model.
type offered struct {
	name   string // a namespace, as Codex has them, is part of it
	schema json.RawMessage
	raw    json.RawMessage
}

// A step chooses a tool out of those offered, and the arguments; ok is false
// while it is not offered.
type step func(tools []offered) (name, arguments string, ok bool)

// An answer is a call, or else text.
type answer struct {
	id, name, arguments string
	text                string
}

// A format decodes the tools of a request, and writes the answer to it.
type format interface {
	knows(r *http.Request) bool
	tools(body []byte) ([]offered, error)
	write(w http.ResponseWriter, r *http.Request, body []byte, a answer)
}

func newModel(t *testing.T, f format, script ...step) *model {
	m := &model{script: script}
	m.Server = listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		if !f.knows(r) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.strange = append(m.strange, r.Method+" "+r.URL.String())
			http.NotFound(w, r)
			return
		}
		tools, err := f.tools(body)
		if err != nil {
			t.Errorf("%s %s: %v in %.500s", r.Method, r.URL, err, body)
		}
		f.write(w, r, body, m.answer(tools, string(body)))
	}))
	return m
}

func (m *model) answer(tools []offered, body string) answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, request{tools, body})
	for i, step := range m.script {
		if name, arguments, ok := step(tools); ok {
			m.script = slices.Delete(m.script, i, i+1)
			return answer{id: fmt.Sprint("call_", len(m.requests)), name: name, arguments: arguments}
		}
	}
	return answer{text: "done"}
}

// offered returns the tools of the request that offered most.
func (m *model) offered() []offered {
	m.mu.Lock()
	defer m.mu.Unlock()
	var most []offered
	for _, r := range m.requests {
		if len(r.tools) > len(most) {
			most = r.tools
		}
	}
	return most
}

// saw says whether a request contains text.
func (m *model) saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if strings.Contains(r.body, text) {
			return true
		}
	}
	return false
}

// events writes server-sent events, each a value in JSON or a string as it is.
func events(w http.ResponseWriter, events ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		data, ok := e.(string)
		if !ok {
			data = marshal(e)
		}
		var typed struct{ Type string }
		if json.Unmarshal([]byte(data), &typed) == nil && typed.Type != "" {
			fmt.Fprintf(w, "event: %s\n", typed.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, marshal(v)) //nolint:errcheck // the client may have gone
}

type object = map[string]any

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a literal of a test
	}
	return string(data)
}
