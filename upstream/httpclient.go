package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/netaddr"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/upstream/internal/netdial"
)

const (
	longestFault = 64 << 10 // bytes read of an answer that is a fault
	endTimeout   = 2 * time.Second
)

// deadAfter is how long nothing that was sent may be acknowledged.
const deadAfter = 30 * time.Second

// newHTTPClient returns a client that speaks only to the origin of address,
// and adds the headers to every request.
func newHTTPClient(cfg *Config, behind *instances) *http.Client {
	address, header := cfg.address(), http.Header{}
	for name, value := range cfg.Headers {
		header.Set(name, value)
	}
	if user := address.User; user != nil && header["Authorization"] == nil {
		password, _ := user.Password()
		(&http.Request{Header: header}).SetBasicAuth(user.Username(), password)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = netdial.NewDialer(cfg.ConnectTimeout, deadAfter).DialContext
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: cfg.pingAfter, PingTimeout: cfg.pingTimeout} // one connection carries all calls
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = address.Scheme == "http" || netaddr.IsLoopback(address.Hostname()) // it costs more than it saves in a local network
	if transport.DisableCompression && header["Accept-Encoding"] == nil {
		header.Set("Accept-Encoding", "identity") // without it, a server may choose (RFC 9110, 12.5.3)
	}
	conns := httpconn.Register(transport)
	var base http.RoundTripper = transport
	if cfg.Wrap != nil {
		base = cfg.Wrap(transport)
	}
	return &http.Client{
		Transport:     &guard{transport, base, conns, address, header, behind},
		CheckRedirect: checkRedirect,
	}
}

// Headers of requests, which nothing changes.
var (
	acceptStream = []string{"text/event-stream"}
	acceptAnswer = []string{"application/json, text/event-stream"}
	jsonType     = []string{"application/json"}
)

// httpRequest returns a request with the headers that every transport of MCP has.
func httpRequest(ctx context.Context, method string, address *url.URL, message []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, "", bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	own := *address // a layer of Config.Wrap may change it
	r.URL, r.Host = &own, own.Host
	r.Header["Accept"] = acceptStream
	if method == http.MethodPost {
		r.Header["Accept"], r.Header["Content-Type"] = acceptAnswer, jsonType
	}
	return r, nil
}

// A guard adds secrets to requests, and lets none of them go elsewhere.
type guard struct {
	transport *http.Transport
	base      http.RoundTripper // of Config.Wrap; transport if there is none
	conns     *httpconn.Pool    // of transport
	address   *url.URL
	header    http.Header
	behind    *instances
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !netaddr.SameOrigin(req.URL, g.address) {
		return nil, toForeign(req.URL)
	}
	g.addHeaders(req)
	resp, err := g.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := g.behind.check(resp.Header); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// addHeaders adds the headers of the configuration to a request, which is ours, or a
// redirect of it.
func (g *guard) addHeaders(req *http.Request) {
	kept := req.Header.Get("Cookie")
	maps.Copy(req.Header, g.header)
	if own := g.header.Get("Cookie"); own != "" && kept != "" && !strings.HasPrefix(kept, own) {
		req.Header.Set("Cookie", own+"; "+kept)
	}
	if host := g.header.Get("Host"); host != "" {
		req.Host = host
	}
}

// CloseIdleConnections is called by the method of [http.Client].
func (g *guard) CloseIdleConnections() {
	g.conns.CloseIdleConnections()
	(&http.Client{Transport: g.base}).CloseIdleConnections()
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 5:
		return errors.New("the server redirects in a circle")
	case !netaddr.SameOrigin(req.URL, via[0].URL):
		return toForeign(req.URL)
	case req.Method != via[0].Method:
		return fmt.Errorf("the server redirects to %s; use that address as its url", req.URL.Path)
	}
	return nil
}

// errForeign means that a server sends us to another origin.
var errForeign = errors.New("the server redirects to another origin")

func toForeign(u *url.URL) error {
	return fmt.Errorf("%w, %s://%s, which is refused; if that is right, use it as the url", errForeign, u.Scheme, u.Host)
}

// A statusError is an answer whose HTTP status is a fault.
type statusError struct {
	status     int
	body       string
	rpc        error         // the JSON-RPC error that the body holds, if it does
	retryAfter time.Duration // for which the server wants no requests; 0 if it did not say
	authorized bool          // the request had an Authorization header
	sse        bool          // a stream of events was asked for as in 2024-11-05
}

func (e *statusError) Unwrap() error { return e.rpc }

func (e *statusError) Error() string {
	s := fmt.Sprintf("it answered %d %s", e.status, http.StatusText(e.status))
	advice := statusAdvice(e.status)
	if e.status == http.StatusUnauthorized && e.authorized {
		advice = "it refuses the Authorization header that it was sent; check the credentials"
	}
	if advice != "" {
		s += "; " + advice
	}
	if e.body != "" {
		s += ": " + e.body
	}
	return s
}

func statusAdvice(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "give it credentials, such as an Authorization header in its headers"
	case status == http.StatusForbidden:
		return "its credentials do not allow this; check its headers"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return "check the path of its url"
	case status == http.StatusTooManyRequests:
		return "it limits the rate of requests; wait and try again"
	case status >= 500:
		return "the server has an error; check its log"
	}
	return ""
}

// offersNoStream reports whether a server that refuses the stream will go on refusing
// it. Other statuses pass, such as those of a proxy whose server starts, and most do
// where the server gave a stream before.
func (e *statusError) offersNoStream(before bool) bool {
	switch e.status {
	case http.StatusNotFound:
		return !aboutSession.MatchString(e.body)
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusBadRequest, http.StatusNotImplemented:
		return true
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusMisdirectedRequest, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.status < 300 || e.status < 500 && !before // an answer that is not a stream, or a refusal that a login does not change
}

// maxPause returns the limit of pauses between requests for a stream: it is long if the
// server has always refused the stream.
func maxPause(err error, before bool) time.Duration {
	if isA[*statusError](err) && !before {
		return 5 * time.Minute
	}
	return longestBackoff
}

// pause returns how long to wait after a refusal, of which there were several one after
// the other. Before means that the server gave the stream before.
func (e *statusError) pause(first time.Duration, refusals int, before bool) time.Duration {
	return max(min(first<<min(refusals-1, 20), maxPause(e, before)), e.retryAfter)
}

// A contentError is an answer that is not MCP, though its status is good.
type contentError struct{ kind, body string }

// notJSON is the kind of an answer that is meant to be MCP.
const notJSON = "an answer that is not JSON"

func (e *contentError) Error() string {
	if e.kind == notJSON {
		return "it wrote an answer that is not JSON, which is a defect of the server; report it to its authors: " + e.body
	}
	s := fmt.Sprintf("it answered with %s, which is not MCP; check what its command or url leads to", e.kind)
	if e.body != "" {
		s += ": " + e.body
	}
	return s
}

// A cutError is a connection that ended before the answer came, and that no other
// call uses.
type cutError struct {
	err    error
	unsent bool // nothing was sent
}

func (e *cutError) Error() string {
	if e.unsent {
		return e.err.Error()
	}
	if e.err == nil || errors.Is(e.err, io.EOF) {
		return "the connection ended before the response arrived"
	}
	return fmt.Sprintf("the connection ended before the response arrived: %v", e.err)
}

func (e *cutError) Unwrap() error { return e.err }

// fault makes an error of an answer that is none, and closes it. A JSON-RPC error
// is found in it, whatever status it came with.
func fault(resp *http.Response) *statusError {
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, longestFault))
	e := &statusError{status: resp.StatusCode, body: excerpt(body, 300), retryAfter: retryAfter(resp.Header), authorized: resp.Request != nil && resp.Request.Header.Get("Authorization") != ""}
	found := wire.Read(body)
	if len(found) == 1 && found[0].Err != nil && e.status != http.StatusUnauthorized && e.status != http.StatusForbidden {
		e.rpc = wire.ReadError(found[0].Err)
		e.body = e.rpc.Error()
	}
	return e
}

// longestRetryAfter bounds what a server can ask for.
const longestRetryAfter = 10 * time.Minute

// retryAfter reads the header Retry-After (RFC 9110, §10.2.3): seconds, or a time.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(min(seconds, int(longestRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = time.Until(at).Round(time.Second)
	}
	return max(0, min(wait, longestRetryAfter))
}

// mediaType returns the type of the content. Content that is still compressed has
// another type, which nothing here reads.
func mediaType(resp *http.Response) string {
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "content compressed with " + excerpt([]byte(coding), 40)
	}
	return mediaTypeOf(resp.Header.Get("Content-Type"))
}

// mediaTypeOf returns the type that a header names.
func mediaTypeOf(header string) string {
	switch header {
	case "application/json", "text/event-stream":
		return header
	}
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return t
}

// Limits of what is read of a response after the answer, so that its connection
// can be used again.
const (
	drainTime = 50 * time.Millisecond
	maxLate   = 3  // responses that did not end soon, until only few are waited for
	lateRetry = 50 // of so many, one
)

// An httpConn is what the connections over HTTP have in common.
type httpConn struct {
	*peer
	client *http.Client
	limits *limits
	closed sync.Once
	late   atomic.Uint32 // responses in a row whose end did not come soon, or was not waited for
}

// isStream reports whether a response is a stream of events.
func isStream(resp *http.Response) bool {
	return resp.StatusCode < 300 && mediaType(resp) == "text/event-stream"
}

// finish reads a response to its end, if that comes soon, and closes it. Without
// the end, the connection would be closed too, and the next call need a new one.
func (c *httpConn) finish(body io.ReadCloser, cancel func()) {
	defer body.Close()
	if c.late.Load() >= maxLate && c.late.Add(1)%lateRetry != 0 {
		return
	}
	limit := time.AfterFunc(drainTime, cancel)
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	if limit.Stop() {
		c.late.Store(0)
	} else {
		c.late.Add(1)
	}
}
