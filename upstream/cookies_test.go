package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/upstream"
)

// sticky is a balancer: initialize sets a cookie, and requests without it reach a
// process that does not know the session.
type sticky struct {
	f    forgetful
	more []string // further cookies that each response sets

	mu  sync.Mutex
	got []string // cookies of the requests
}

func (b *sticky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	b.mu.Lock()
	b.got = append(b.got, r.Header.Get("Cookie"))
	b.mu.Unlock()
	for _, text := range b.more {
		w.Header().Add("Set-Cookie", text)
	}
	var m message
	switch _ = json.Unmarshal(body, &m); {
	case m.Method == "initialize":
		b.f.mu.Lock()
		node := b.f.sessions + 1
		b.f.mu.Unlock()
		w.Header().Add("Set-Cookie", fmt.Sprintf("AWSALB=node%d; Path=/; HttpOnly; Domain=lb.internal", node))
	case !strings.Contains(r.Header.Get("Cookie"), "AWSALB=node"):
		http.Error(w, "Session not found", http.StatusNotFound)
		return
	}
	b.f.ServeHTTP(w, r)
}

// A server behind a balancer that leads requests by a cookie can be used. Each session
// has cookies of its own, in addition to those of the configuration.
func TestStickyCookie(t *testing.T) {
	b := &sticky{f: forgetful{refuse: sessionRefusals["404"]}}
	s := start(t, &upstream.Config{URL: serve(t, b).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25", Headers: map[string]string{"Cookie": "own=1"}}).ready(t)
	if got := s.text(t, "write", "{}", nil); got != "done" {
		t.Fatal(got)
	}
	b.f.forget()
	if got := s.text(t, "write", "{}", nil); got != "done" {
		t.Fatal(got)
	}
	other := start(t, &upstream.Config{URL: serve(t, b).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	if got := other.text(t, "write", "{}", nil); got != "done" {
		t.Fatal(got)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := map[string]int{}
	for _, got := range b.got {
		counts[got]++
	}
	if counts["own=1"] != 2 || counts[""] != 1 || counts["own=1; AWSALB=node1"] == 0 || counts["own=1; AWSALB=node2"] == 0 || counts["AWSALB=node3"] == 0 || len(counts) != 5 {
		t.Errorf("the cookies of the requests were %v", counts)
	}
}

// A server cannot have us keep and send any number of cookies.
func TestManyCookies(t *testing.T) {
	b := &sticky{f: forgetful{refuse: sessionRefusals["404"]}}
	for i := range 500 {
		b.more = append(b.more, fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 500)))
	}
	b.more = append(b.more, "long="+strings.Repeat("x", 50<<10))
	s := start(t, &upstream.Config{URL: serve(t, b).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"})
	_ = s.Ready(t.Context())
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, got := range b.got {
		if len(got) > 20<<10 {
			t.Fatalf("a request had cookies of %d bytes", len(got))
		}
	}
}
