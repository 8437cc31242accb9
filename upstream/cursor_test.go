package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// An answer without a list is an empty list: the server and its other lists stay
// usable. A cursor that is a number is followed, and any other one that is not a
// string ends the list; findings say so.
func TestOddPages(t *testing.T) {
	const first = `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":`
	for _, test := range []struct{ first, second, want, finding string }{
		{`{"tools":null}`, "", " p", "has no list of tools"},
		{`{}`, "", " p", "has no list of tools"},
		{`{"tools":{}}`, "", " p", "has no list of tools"},
		{first + `7}`, `{"tools":[{"name":"b","inputSchema":{}}]}`, "a b p", ""},
		{first + `"7"}`, `{"tools":null}`, "a p", "has no list of tools"},
		{first + `8}`, "", "a p", "which is not a string"},
		{first + `{}}`, "", "a p", "which is not a string"},
		{first + `false}`, "", "a p", "which is not a string"},
		{first + `null}`, "", "a p", ""},
	} {
		srv := serve(t, classic(`{"tools":{},"prompts":{}}`, func(w http.ResponseWriter, r *http.Request, m *message) {
			w.Header().Set("Content-Type", "application/json")
			cursor := m.param("cursor")
			switch {
			case r.Method != http.MethodPost:
				w.WriteHeader(http.StatusMethodNotAllowed)
			case m.ID == nil:
				w.WriteHeader(http.StatusAccepted)
			case m.Method == "prompts/list":
				result(w, m, `{"prompts":[{"name":"p"}]}`)
			case cursor == "":
				result(w, m, test.first)
			case cursor == "7" || cursor == `"7"`:
				result(w, m, test.second)
			default:
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad cursor"}}`, m.ID)
			}
		}))
		s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
		got := s.names(t)
		for _, p := range s.Features().Prompts {
			got += " " + p.Name
		}
		findings := fmt.Sprint(s.Status().Skipped)
		if got != test.want || !strings.Contains(findings, test.finding) || (test.finding == "") != (findings == "[]") {
			t.Errorf("%s: got %q with the findings %s, want %q", test.first, got, findings, test.want)
		}
	}
}

// Arguments that are null are none, also those of a prompt.
func TestNullArguments(t *testing.T) {
	sent := make(chan string, 2)
	srv := serve(t, classic(`{"tools":{},"prompts":{}}`, func(w http.ResponseWriter, r *http.Request, m *message) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case strings.HasSuffix(m.Method, "/list"):
			result(w, m, `{"tools":[{"name":"t","inputSchema":{}}],"prompts":[{"name":"p"}]}`)
		default:
			sent <- m.param("arguments")
			result(w, m, `{"content":[],"messages":[]}`)
		}
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	params := json.RawMessage(`{"name":"x","arguments":null}`)
	for handler, want := range map[*toolpost.Handler]string{&tools[0].Handler: "{}", &s.Features().Prompts[0].Get: ""} {
		if _, err := (*handler)(t.Context(), &toolpost.Call{Name: "x", Params: params}); err != nil {
			t.Fatal(err)
		}
		if got := <-sent; got != want {
			t.Errorf("the arguments sent are %q, want %q", got, want)
		}
	}
}
