package mcpserver_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
)

// A call that is parked is under way: the answer to what it asks is a call of its own,
// which is taken while the server waits for its calls.
func TestDrainTakesAnswersOfParkedCalls(t *testing.T) {
	s := serve(t, nil, asker(nil))
	body, header := modernCall("ask", "{}", "")
	asked := s.post(t, body, header)
	state := wire.Unquote(wire.Get(wire.Get([]byte(asked.last()), "result"), "requestState"))
	if state == "" {
		t.Fatalf("got %s", asked.body)
	}
	soonest, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Drain(soonest) {
		t.Error("a call is parked")
	}
	for s.post(t, body, header).status != http.StatusServiceUnavailable { // until the drain has begun
		t.Log("not yet")
	}
	forged, _ := modernCall("ask", "{}", `,"requestState":"x`+state+`","inputResponses":{"input":{"action":"accept"}}`)
	if e := s.post(t, forged, header); e.status != http.StatusServiceUnavailable {
		t.Errorf("a state of no call: %d %s", e.status, e.body)
	}
	retry, _ := modernCall("ask", "{}", `,"requestState":"`+state+`","inputResponses":{"input":{"action":"accept"}}`)
	if e := s.post(t, retry, header); e.status != http.StatusOK || !strings.Contains(e.body, "accept") {
		t.Errorf("the answer: %d %s", e.status, e.body)
	}
}

// A call over SSE is under way from its POST to its answer, also while it waits for the
// answer to initialize.
func TestDrainWaitsForSSE(t *testing.T) {
	src := &source{ready: make(chan struct{}), tools: []*toolpost.Tool{textTool("t", "done")}}
	server := newServerOf(t, &mcpserver.Options{Bridge: true}, src)
	s := servedOver(t, server, src)
	events, post := s.openSSE(t, t.Context(), "/sse")
	post(initialize)
	if status := post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`); status != http.StatusAccepted {
		t.Fatalf("the call: %d", status)
	}
	drained := make(chan bool, 1)
	go func() { drained <- s.Drain(t.Context()) }()
	for s.post(t, ping, "").status != http.StatusServiceUnavailable { // until the drain has begun
		t.Log("not yet")
	}
	for range 20 {
		s.post(t, ping, "")
	}
	select {
	case <-drained:
		t.Error("the call is under way")
		drained <- true
	default:
	}
	close(src.ready)
	soon(t, events, "the answer of initialize")
	if got := soon(t, events, "the result"); !strings.Contains(got, "done") {
		t.Errorf("got %s", got)
	}
	if !soon(t, drained, "the end of the calls") {
		t.Error("calls are under way")
	}
}
