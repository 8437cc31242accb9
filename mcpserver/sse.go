package mcpserver

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// The HTTP+SSE transport of 2024-11-05: a GET opens the stream, whose first
// event names the address for the client's messages.
const sessionQuery = "sessionid"

func (f *httpHandler) openSSE(w http.ResponseWriter, r *http.Request, from Client) *refusal {
	out, open := newStream(w, r)
	s, not := f.open(w, r, from, "sse")
	if not != nil {
		return not
	}
	d := s.newDuplex(out.put)
	d.all = &f.bytesSSE
	defer out.close()
	defer d.end(errEnded)
	// The address for messages is relative to that of the stream, which may have a
	// prefix that is not known here.
	path := r.URL.Path
	if sent, err := url.ParseRequestURI(r.RequestURI); err == nil {
		path = sent.Path // a middleware may have changed the other one
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	if out.endpoint(strings.ReplaceAll(url.PathEscape(last), ":", "%3A")+"?"+sessionQuery+"="+s.id) != nil {
		return nil
	}
	s.await(open)
	return nil
}

// endpoint sends the first event: where messages go.
func (p *reply) endpoint(address string) error {
	return p.pass(func() error { return p.event("endpoint", inMemory(address)) })
}

// postSSE delivers the messages that a client sends.
func (f *httpHandler) postSSE(w http.ResponseWriter, r *http.Request, p *post) *refusal {
	s, not := f.find(r, p.from, r.URL.Query().Get(sessionQuery), true, true)
	if not != nil {
		return not
	}
	defer f.core.sessions.leave(s)
	if err := s.duplex.deliver(context.WithoutCancel(r.Context()), p.msgs, p.batch); err != nil {
		return notAccepted(err)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
