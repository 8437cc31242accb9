package upstream

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// An identity is what every request of a connection says of it.
type identity struct {
	mu      sync.Mutex
	session string // "" for none
	version string // of the protocol, "" before it is agreed
}

func (i *identity) get() (session, version string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.session, i.version
}

// SessionID returns the id that the server gave.
func (i *identity) SessionID() string {
	session, _ := i.get()
	return session
}

func (i *identity) speak(version string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.version = version
}

func (i *identity) join(session string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.session = session
}

// identify sets the headers of a request. They are those of one moment.
func identify(h http.Header, session, version string) {
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	if session != "" {
		h.Set("Mcp-Session-Id", session)
	}
}

// forgot reports whether the server does not know our session any more. Many
// servers answer 400 then, as they do to other bad requests, so that a ping
// must tell.
func (c *streamable) forgot(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	ping := `{"jsonrpc":"2.0","id":"toolpost-ping","method":"ping"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(ping))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	session, version := c.get()
	identify(r.Header, session, version)
	resp, err := c.client.Do(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusNotFound
}
