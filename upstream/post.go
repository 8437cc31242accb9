package upstream

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/wire"
)

// An answer is the response to a message, if its status is good.
type answer struct {
	kind   string // its media type
	length int64  // of the body; -1 if that is not known
	body   io.ReadCloser
	header http.Header // nil if it is of no interest
}

// post sends a message.
func (c *streamable) post(ctx context.Context, message []byte, x *exchange) (answer, error) {
	h := c.header.Load()
	modern := h.Get(versionHeader) >= modernVersion
	sent, err := h.direct.post(ctx, message, x, modern)
	switch {
	case err != nil:
		return answer{}, err
	case sent != nil && sent.Body != nil:
		return answer{kind: mediaTypeOf(sent.Type), length: sent.Length, body: sent.Body}, nil
	case sent != nil: // the client does with the response what it has to
		defer sent.Drop()
		ctx = sent.Answer(ctx)
	}
	resp, err := c.request(ctx, http.MethodPost, message, func(h http.Header) {
		if modern {
			describe(x, h.Set)
		}
	})
	switch {
	case err != nil:
		return answer{}, err
	case resp.StatusCode < 300:
		return answer{mediaType(resp), resp.ContentLength, resp.Body, resp.Header}, nil
	}
	return answer{}, fault(resp)
}

// describe sets the headers by which modern requests say what is in their
// body (MCP 2026-07-28, Transports).
func describe(x *exchange, set func(name, value string)) {
	if x.method == "" {
		return // an answer
	}
	set("Mcp-Method", wire.EncodeHeader(x.method)) // a Go program may ask for any method of an extension
	if x.name != "" {
		set("Mcp-Name", wire.EncodeHeader(x.name))
	}
	for _, b := range x.bindings {
		if text, ok := wire.HeaderText(b.Find(x.arguments)); ok {
			set(b.Header, wire.EncodeHeader(text))
		}
	}
}

// A passer is implemented by a layer of [Config].Wrap that leaves some requests as they
// are, and all responses to them that succeed. Such requests may be sent without it. The
// layer then gets only the responses that do not succeed, when it sends the request.
type passer interface {
	// Passes reports whether the layer would leave a request of ctx as it is now.
	Passes(ctx context.Context, req *http.Request) bool
}

// A direct sends the messages of a connection without what net/http does for any request:
// what all requests of the connection begin with is written once. Of a response that a
// client has to do something about, such as a redirect, the client gets the rest.
type direct struct {
	route      *httpconn.Route
	request    *http.Request // without a message
	layer      passer        // nil if there is none
	cookies    *cookies      // requests that have some are not sent like this; may be nil
	head, tail []byte        // before and after the length of the message
}

// newDirect returns what sends the messages of a connection, which have a header. It is
// nil if they go through a proxy, over TLS or through a layer that is not a passer.
func newDirect(client *http.Client, address *url.URL, header http.Header) *direct {
	g, ok := client.Transport.(*guard)
	if !ok {
		return nil
	}
	d := &direct{}
	if d.layer, ok = g.base.(passer); !ok && g.base != http.RoundTripper(g.transport) {
		return nil
	}
	if d.cookies, ok = client.Jar.(*cookies); !ok && client.Jar != nil {
		return nil
	}
	var err error
	if d.request, err = httpRequest(context.Background(), http.MethodPost, address, nil); err != nil {
		return nil
	}
	maps.Copy(d.request.Header, header)
	g.addHeaders(d.request)
	for name := range g.header {
		if strings.HasPrefix(name, "Mcp-") { // it replaces what a message has
			return nil
		}
	}
	if d.route = g.conns.Route(d.request, "Set-Cookie", "Content-Encoding", hidden.InstanceHeader); d.route == nil {
		return nil
	}
	var b bytes.Buffer
	_ = d.request.Write(&b) // a buffer takes all
	d.head, d.tail, _ = bytes.Cut(b.Bytes(), []byte("\r\nContent-Length: 0\r\n"))
	if d.tail, ok = bytes.CutSuffix(d.tail, []byte("\r\n")); !ok {
		return nil
	}
	return d
}

// requestBuffers are for requests while they are sent.
var requestBuffers = sync.Pool{New: func() any { return new([]byte) }}

// post sends a message with more headers. It returns nil if a client has to send it.
func (d *direct) post(ctx context.Context, message []byte, x *exchange, modern bool) (*httpconn.Response, error) {
	if d == nil || x.handshake() || !httpconn.Fits(message) || d.cookies != nil && d.cookies.any.Load() || d.layer != nil && !d.layer.Passes(ctx, d.request) {
		return nil, nil
	}
	buffer := requestBuffers.Get().(*[]byte)
	defer requestBuffers.Put(buffer)
	b := append(append((*buffer)[:0], d.head...), "\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(message)), 10), "\r\n"...)
	b = append(b, d.tail...)
	if modern {
		describe(x, func(name, value string) { b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...) })
	}
	b = append(append(b, "\r\n"...), message...)
	*buffer = b
	resp, err := d.route.Send(ctx, b)
	if err != nil {
		return nil, &url.Error{Op: "Post", URL: d.request.URL.Redacted(), Err: err}
	}
	return resp, nil
}
