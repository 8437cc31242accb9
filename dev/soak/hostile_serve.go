//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// serveHostile serves a hostile server over stdio.
func serveHostile(name string) error {
	h := newHostile(name)
	var mu sync.Mutex
	send := func(message string) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := io.WriteString(os.Stdout, message+"\n")
		return err
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		for _, m := range wire.Read(line) {
			switch err := h.receive(&m, send); {
			case err == nil, errors.Is(err, errNoAnswer):
			case errors.Is(err, errDeaf):
				select {} // until it is killed
			default:
				return err
			}
			if m.Method == "initialize" {
				go h.pester(context.Background(), send)
			}
		}
	}
}

// A hostileSite serves all hostile servers over HTTP, each below its name.
type hostileSite struct {
	*httptest.Server
	servers map[string]*hostileWeb
	closed  chan struct{}
}

// A hostileWeb is a hostile server over HTTP.
type hostileWeb struct {
	*hostile
	closed   chan struct{} // of the site
	sessions atomic.Int64
	stream   atomic.Pointer[sender] // of the newest session over SSE
}

func serveHostileHTTP() *hostileSite {
	site := &hostileSite{servers: map[string]*hostileWeb{}, closed: make(chan struct{})}
	for _, name := range hostileNames() {
		site.servers[name] = &hostileWeb{hostile: newHostile(name), closed: site.closed}
	}
	site.Server = httptest.NewUnstartedServer(site)
	site.Config.ErrorLog = log.New(io.Discard, "", 0)
	site.Start()
	return site
}

// Close closes all connections.
func (s *hostileSite) Close() {
	close(s.closed)
	s.CloseClientConnections()
	s.Server.Close()
}

// ServeHTTP implements [http.Handler].
func (s *hostileSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := s.servers[strings.Trim(r.URL.Path, "/")]
	switch {
	case h == nil:
		http.NotFound(w, r)
	case r.Method == http.MethodGet && h.transport != overStateless:
		h.listen(w, r)
	case r.Method == http.MethodPost:
		h.post(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// events returns a sender of events, and a function after which it sends none.
func events(w http.ResponseWriter) (send sender, end func()) {
	var mu sync.Mutex
	ended := false
	return func(message string) error {
			mu.Lock()
			defer mu.Unlock()
			if ended {
				return io.ErrClosedPipe
			}
			_, err := fmt.Fprintf(w, "data: %s\n\n", message)
			w.(http.Flusher).Flush()
			return err
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			ended = true
		}
}

// listen serves the stream of a session.
func (h *hostileWeb) listen(w http.ResponseWriter, r *http.Request) {
	send, end := events(w)
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	if h.transport == overSSE {
		fmt.Fprintf(w, "event: endpoint\ndata: %s?session=1\n\n", r.URL.Path)
	}
	w.(http.Flusher).Flush()
	if h.transport == overSSE {
		h.stream.Store(&send) // from here on others write
	}
	h.pester(r.Context(), send)
	select {
	case <-h.closed:
	case <-r.Context().Done():
	}
}

// holdTime is how long a request that gets no answer is kept at most.
const holdTime = 15 * time.Second

func (h *hostileWeb) wait(r *http.Request) {
	select {
	case <-h.closed:
	case <-r.Context().Done():
	case <-time.After(holdTime):
	}
}

// post serves a request.
func (h *hostileWeb) post(w http.ResponseWriter, r *http.Request) {
	if h.kind == "deaf" && h.listed.Load() {
		h.wait(r) // which notices the end of a connection only if the body was read
		panic(http.ErrAbortHandler)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m := wire.Read(body)[0]
	if !m.IsCall() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "initialize" && h.transport == overSessions {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("hostile", h.sessions.Add(1)))
	}
	send, end := h.answers(w, &m)
	defer end()
	switch err := h.receive(&m, send); {
	case h.transport == overSSE && errors.Is(err, errNoAnswer):
		w.WriteHeader(http.StatusAccepted)
	case errors.Is(err, errNoAnswer), errors.Is(err, errDeaf):
		h.wait(r)
	case errors.Is(err, errForgotten):
		refuse(w, &m, h.calls.Load())
	case err != nil:
		panic(http.ErrAbortHandler) // closes the connection
	}
}

// answers returns a sender of the answers to a request: half of them come as JSON, the
// others as events.
func (h *hostileWeb) answers(w http.ResponseWriter, m *wire.Message) (send sender, end func()) {
	switch {
	case h.transport == overSSE:
		accept := sync.OnceFunc(func() {
			w.WriteHeader(http.StatusAccepted)
			w.(http.Flusher).Flush()
		})
		return func(message string) error {
			accept()
			if stream := h.stream.Load(); stream != nil {
				return (*stream)(message)
			}
			return nil
		}, func() {}
	case m.Method == "tools/call" && (h.kind == "floods" || h.kind == "questions" || h.kind == "confused" || h.calls.Load()%2 == 0):
		send, end := events(w)
		return func(message string) error {
			w.Header().Set("Content-Type", "text/event-stream")
			return send(message)
		}, end
	}
	return func(message string) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, message)
		return err
	}, func() {}
}

// refuse answers that a session is not known, in various words.
func refuse(w http.ResponseWriter, m *wire.Message, n int64) {
	switch n / 3 % 3 {
	case 0:
		http.Error(w, "gone", http.StatusNotFound)
	case 1:
		http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"Session not found"}}`, m.ID)
	}
}
