package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// An httpSession is a client over HTTP that is written by hand, so that it
// shares no code with what is tested.
type httpSession struct {
	t       *testing.T
	url, id string
}

// send sends a message and returns the answer.
func (s *httpSession) send(method, body string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		r.Header.Set("Mcp-Session-Id", s.id)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		s.t.Fatalf("%s: %s %s (%v)", body, answer.Status, text, err)
	}
	if s.id == "" {
		s.id = answer.Header.Get("Mcp-Session-Id")
	}
	return string(text)
}
