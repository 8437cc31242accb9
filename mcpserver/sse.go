package mcpserver

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/observe"
)

// The HTTP+SSE transport of 2024-11-05: a GET opens the stream, whose first
// event names the address for the client's messages.
const sessionQuery = "sessionid"

func (f *httpHandler) openSSE(w http.ResponseWriter, r *http.Request, from observe.Client) *refusal {
	s, not := f.open(w, r, from, "sse")
	if not != nil {
		return not
	}
	out, open := newStream(w, r)
	d := s.newDuplex(out.put)
	defer out.stop()
	defer d.end(errEnded)
	if out.endpoint(endpointOf(r)+"?"+sessionQuery+"="+s.id) != nil {
		return nil
	}
	s.await(open)
	return nil
}

// endpointOf returns the path for messages, which is that of the stream. Some clients
// resolve a relative one in ways of their own. Behind a proxy that may have removed a
// prefix without a header for it, only a relative one leads back.
func endpointOf(r *http.Request) string {
	path := r.URL.EscapedPath()
	if sent, err := url.ParseRequestURI(r.RequestURI); err == nil {
		path = sent.EscapedPath() // a middleware may have changed the other one
	}
	prefix := r.Header.Get("X-Forwarded-Prefix")
	switch {
	case isPrefix(prefix):
		return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimLeft(path, "/")
	case prefix != "", !r.ProtoAtLeast(1, 1), slices.ContainsFunc(proxyHeaders, func(name string) bool { return len(r.Header[name]) > 0 }):
		return strings.ReplaceAll(path[strings.LastIndexByte(path, '/')+1:], ":", "%3A")
	}
	return "/" + strings.TrimLeft(path, "/")
}

// proxyHeaders are the headers that proxies add. A proxy that speaks HTTP/1.0, as nginx
// does by default, may add none.
var proxyHeaders = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// isPrefix reports whether a text is a path that needs no escaping, and leads to no
// other host.
func isPrefix(text string) bool {
	odd := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"?#\\<>`, r) })
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && !odd
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
	if err := s.duplex.deliver(context.WithoutCancel(r.Context()), p.msgs, p.batch, p.hold.move()); err != nil {
		return notAccepted(err)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
