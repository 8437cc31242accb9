package httpconn

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
)

// A Route leads to one server, for requests that are written beforehand: as they go over
// the connection, each with a small body, and none that may be carried out twice. Their
// responses are read without maps of headers, if they are plain.
type Route struct {
	pool    *Pool
	url     *url.URL
	special []string
}

// Route returns the route that a request takes, nil if the pool leaves it to its
// transport. Special are the headers of responses that are not plain.
func (p *Pool) Route(req *http.Request, special ...string) *Route {
	if !canCheck || req.URL.Scheme != "http" || !p.takes(req) {
		return nil
	}
	return &Route{p, req.URL, special}
}

// Fits reports whether a body is small enough for a route.
func Fits(body []byte) bool { return len(body) <= maxBody }

// A Response is that to a request of a [Route]. A plain one has the status 200 or 202, a
// body whose end shows, and no special header. Of others only the connection is known;
// see [Response.Answer].
type Response struct {
	Body   io.ReadCloser // nil if the response is not plain
	Type   string        // the header Content-Type
	Length int64         // of the body; -1 if that is not known

	conn *conn
	body body
	rest int64 // bytes that are left of the body
}

// Send sends a request. It is sent again only if an idle connection was closed by the
// server before it got any of the request.
func (r *Route) Send(ctx context.Context, request []byte) (*Response, error) {
	c, err := r.pool.send(ctx, r.url, request, false)
	if err != nil {
		return nil, err
	}
	resp := &Response{Length: -1, conn: c}
	resp.readHead(r.special)
	return resp, nil
}

// Drop closes the connection of a response that is not plain, if nothing has read it.
func (r *Response) Drop() {
	if c := r.take(); c != nil {
		c.stop()
		c.Close()
	}
}

func (r *Response) take() (c *conn) {
	if r.Body == nil {
		c, r.conn = r.conn, nil
	}
	return c
}

// responseKey has a response that is not plain, in the context of a request.
type responseKey struct{}

// Answer returns a context for the request that a response answers which is not plain. The
// pool does not send that request, but returns the response: so it passes all that a
// client does with responses. A request that follows, such as one after a redirect, is sent.
func (r *Response) Answer(ctx context.Context) context.Context {
	return context.WithValue(ctx, responseKey{}, r)
}

// readHead reads the head of the response if it is plain.
func (r *Response) readHead(special []string) {
	in := r.conn.in
	head, _ := in.Peek(in.Buffered())
	end := bytes.Index(head, []byte("\r\n\r\n"))
	if end < 0 {
		return
	}
	first, fields, _ := bytes.Cut(head[:end+len("\r\n")], []byte("\r\n"))
	if status, ok := bytes.CutPrefix(first, []byte("HTTP/1.1 ")); !ok || !isGood(status) || bytes.ContainsFunc(status, isOddInValue) {
		return
	}
	r.body = body{conn: r.conn, ctx: r.conn.ctx, stop: r.conn.stop, keep: true}
	if !r.readFields(fields, special) {
		return
	}
	_, _ = in.Discard(end + len("\r\n\r\n"))
	r.conn.left = unlimited
	r.Body, r.conn = &r.body, nil
	if r.rest == 0 && r.Length == 0 {
		r.body.end(true)
	}
}

// isGood reports whether a status is one of plain responses.
func isGood(status []byte) bool {
	code, _, _ := bytes.Cut(status, []byte(" "))
	return string(code) == "200" || string(code) == "202"
}

// readFields reads the header fields. It reports whether the response is plain.
func (r *Response) readFields(fields []byte, special []string) bool {
	for len(fields) > 0 {
		var line []byte
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		switch {
		case !ok || len(name) == 0 || bytes.ContainsFunc(name, isOddInName) || bytes.ContainsFunc(value, isOddInValue):
			return false
		case slices.ContainsFunc(special, func(s string) bool { return isName(name, s) }), !r.readField(name, bytes.Trim(value, " \t")):
			return false
		}
	}
	return r.body.from != nil
}

// isOddInName reports whether few names of headers have a character.
func isOddInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-'
}

// isOddInValue reports whether few values of headers have a character.
func isOddInValue(c rune) bool { return (c < ' ' || c > '~') && c != '\t' }

// readField reads a header field that concerns the body or the connection. It reports
// whether the response is plain.
func (r *Response) readField(name, value []byte) bool {
	switch {
	case isName(name, "Content-Type"):
		r.Type = typeOf(value)
	case isName(name, "Content-Length") && r.body.from == nil:
		n, err := strconv.ParseUint(string(value), 10, 62)
		r.Length, r.rest, r.body.from = int64(n), int64(n), (*lengthReader)(r)
		return err == nil
	case isName(name, "Transfer-Encoding") && r.body.from == nil:
		r.body.from = &chunkedReader{chunks: httputil.NewChunkedReader(r.conn.in), in: r.conn.in}
		return isName(value, "chunked")
	case isName(name, "Connection"):
		return isName(value, "keep-alive")
	case isName(name, "Content-Length"), isName(name, "Transfer-Encoding"), isName(name, "Trailer"):
		return false
	}
	return true
}

// typeOf returns a media type as a string, the usual ones without a copy.
func typeOf(value []byte) string {
	switch string(value) {
	case "application/json":
		return "application/json"
	case "text/event-stream":
		return "text/event-stream"
	}
	return string(value)
}

// isName reports whether a name of a header, or a value of one, is another one in any case.
func isName(name []byte, other string) bool {
	return len(name) == len(other) && bytes.EqualFold(name, []byte(other))
}

// A lengthReader reads a body of a length that is known.
type lengthReader Response

func (r *lengthReader) Read(p []byte) (int, error) {
	if r.rest == 0 {
		return 0, io.EOF
	}
	n, err := r.body.conn.in.Read(p[:min(int64(len(p)), r.rest)])
	switch r.rest -= int64(n); {
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case err == nil && r.rest == 0:
		err = io.EOF
	}
	return n, err
}

// A chunkedReader reads a body of chunks. One with trailers is read to its end, but its
// connection carries no other request.
type chunkedReader struct {
	chunks io.Reader
	in     *bufio.Reader
	ended  bool // the connection may carry another request already
}

func (r *chunkedReader) Read(p []byte) (int, error) {
	if r.ended {
		return 0, io.EOF
	}
	n, err := r.chunks.Read(p)
	if err == io.EOF {
		r.ended = true
		end, tooShort := r.in.Peek(2)
		switch {
		case tooShort != nil:
			return n, io.ErrUnexpectedEOF
		case string(end) == "\r\n":
			_, _ = r.in.Discard(2)
		}
	}
	return n, err
}
