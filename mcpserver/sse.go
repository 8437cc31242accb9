package mcpserver

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/internal/wire"
)

// The HTTP+SSE transport of 2024-11-05: a GET opens the stream, whose first
// event names the address for the client's messages.
const sessionQuery = "sessionid"

func (f *front) openSSE(w http.ResponseWriter, r *http.Request, from Client) {
	s := f.core.newSession(f.opener(r))
	broken := make(chan struct{})
	out := &reply{w: w, accept: acceptance{events: true}, broken: sync.OnceFunc(func() { close(broken) })}
	d := s.newDuplex(from, func(message []byte) error { return out.send(context.Background(), message) })
	d.all = &f.bytesSSE
	if fault := f.core.table.add(s); fault != nil {
		refuse(w, http.StatusServiceUnavailable, nil, fault)
		return
	}
	defer out.stop()
	defer d.end(errEnded)
	if out.endpoint(endpoint(r.URL.Path, s.id)) != nil {
		return
	}
	d.listener.open(d)
	select {
	case <-r.Context().Done():
	case <-s.done:
	case <-broken:
	}
}

// endpoint returns where the client sends its messages. It is relative to the
// address of the stream, which may have a prefix that is not known here.
func endpoint(path, id string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return strings.ReplaceAll(url.PathEscape(last), ":", "%3A") + "?" + sessionQuery + "=" + id
}

// endpoint sends the first event: where messages go.
func (p *reply) endpoint(address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.event("endpoint", []byte(address))
}

// postSSE delivers the messages that a client sends.
func (f *front) postSSE(w http.ResponseWriter, r *http.Request, msgs []wire.Message, batch bool) {
	s, _ := f.core.table.find(r.URL.Query().Get(sessionQuery), true)
	if s != nil {
		defer f.core.table.leave(s)
	}
	if s == nil || s.duplex == nil {
		fault := wire.Errorf(wire.CodeInvalidRequest, "there is no such session; open one with GET at this address")
		refuse(w, http.StatusNotFound, faultID(msgs, fault), fault)
		return
	}
	if s.identity != f.identity(r) {
		refuse(w, http.StatusForbidden, faultID(msgs, errIdentity()), errIdentity())
		return
	}
	if err := s.duplex.deliver(context.WithoutCancel(r.Context()), msgs, batch); err != nil {
		status, fault := refusal(err)
		refuse(w, status, faultID(msgs, fault), fault)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
