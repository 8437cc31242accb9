package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// resumes is a server that ends the stream of the call of "wait", and sends all that
// follows on the stream that is opened again. Questions are sent there, and the answer
// to the call of "wait" after the server has an answer to its question.
func resumes(t *testing.T, notifications string) (srv string, asked <-chan string) {
	answers, opened, ask := make(chan string, 1), make(chan struct{}), make(chan struct{})
	ids := make(chan string, 1)
	reply := func(w http.ResponseWriter, id, result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}
	s := serve(t, classic(`{"tools":{}}`, func(w http.ResponseWriter, r *http.Request, m *message) {
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
			openStream(w)
			close(opened)
			<-ask
			fmt.Fprint(w, notifications, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"password?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}\n\n")
			w.(http.Flusher).Flush()
			answer := <-answers
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n\n", <-ids, answer)
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Method == "" && m.ID != nil:
			answers <- string(m.Result) + string(m.Error)
			w.WriteHeader(http.StatusAccepted)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "tools/list":
			reply(w, string(m.ID), `{"tools":[{"name":"wait","inputSchema":{}},{"name":"ask","inputSchema":{}}]}`)
		case strings.Contains(string(m.Params), "wait"):
			ids <- string(m.ID)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\nretry: 1\ndata:\n\n")
		default:
			<-opened
			close(ask)
			reply(w, string(m.ID), `{"content":[]}`)
		}
	}))
	return s.URL, answers
}

// A stream that was opened again may be that of all calls: what names no call on it
// reaches a client only if no other can be meant.
func TestQuestionOnResumedStream(t *testing.T) {
	notes := `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"secret"}}` + "\n\n"
	for _, test := range []struct {
		name  string
		other string // the session that makes the second call
		want  string
		heard int
	}{
		{"one client", "a", "accept", 1},
		{"two clients", "b", "used by more than one client", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			address, _ := resumes(t, notes)
			s := start(t, &upstream.Config{URL: address, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
			r := newRecorder()
			r.answer = func(string, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{"action":"accept","content":{}}`), nil
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			call := func(tool, session string) string {
				got, err := s.call(ctx, &toolpost.Call{Name: tool, Arguments: []byte("{}"), Caller: r, Session: session})
				if err != nil {
					return err.Error()
				}
				text, _ := got.FirstText()
				return text
			}
			waited := make(chan string, 1)
			go func() { waited <- call("wait", "a") }()
			call("ask", test.other)
			if got := <-waited; !strings.Contains(got, test.want) {
				t.Errorf("the question was answered with %s, want %q in it", got, test.want)
			}
			if len(r.heard) != test.heard {
				t.Errorf("the client of the first call got %q", r.heard)
			}
		})
	}
}
