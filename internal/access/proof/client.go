package proof

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/httpconn"
)

// A Transport sends the token to servers that prove that they know it. Each
// connection has to prove it again before it carries the token: the port may be
// another program's by then.
type Transport struct {
	token  string
	plain  *http.Transport
	proven *http.Transport // its connections have all proven it
	conns  *httpconn.Pool  // of proven
	asked  atomic.Bool     // the server asked for the token and proved that it knows it
}

// NewTransport returns a Transport that sends token, over connections as base makes them.
func NewTransport(token string, base *http.Transport) *Transport {
	t := &Transport{token: token, plain: base, proven: base.Clone()}
	t.proven.Proxy = nil
	t.proven.DialContext = t.dial
	t.conns = httpconn.Register(t.proven)
	return t
}

// RoundTrip sends a request without the token, and again with it if a server
// that knows the token asks for it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.asked.Load() {
		resp, err := t.send(req)
		if !errors.Is(err, ErrUnproven) {
			return resp, err
		}
		t.asked.Store(false)
		if req, err = again(req); err != nil {
			return nil, err
		}
	}
	resp, err := t.plain.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), Realm) {
		return resp, err
	}
	var answer *http.Response
	if req, err = again(req); err == nil {
		answer, err = t.send(req)
	}
	if err != nil {
		return resp, nil // the server's refusal is the answer
	}
	_ = resp.Body.Close()
	t.asked.Store(true)
	return answer, nil
}

func (t *Transport) send(req *http.Request) (*http.Response, error) {
	r := req.Clone(req.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.proven.RoundTrip(r)
}

// again returns req with its body from the beginning.
func again(req *http.Request) (*http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	if req.GetBody == nil {
		return nil, errors.New("the request cannot be repeated")
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	r := req.Clone(req.Context())
	r.Body = body
	return r, nil
}

// CloseIdleConnections is called by the method of [http.Client].
func (t *Transport) CloseIdleConnections() {
	t.plain.CloseIdleConnections()
	t.proven.CloseIdleConnections()
	t.conns.CloseIdleConnections()
}

// dial opens a connection to a server on this machine that knows the token.
func (t *Transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := t.plain.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := prove(conn, Header, t.token, proofTime); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// ErrUnproven reports that no request was sent, because the server did not prove in time who
// it is.
var ErrUnproven = errors.New("the server did not prove that it knows the token")

const (
	proofTime = 5 * time.Second
	maxProof  = 64 << 10
)

// OfRun returns base with connections only to the process that noted the key when it began to
// serve, and that proves it within a time; see [RunHeader]. If there is no such connection,
// the error is also ErrUnproven.
func OfRun(key string, within time.Duration, base *http.Transport) *http.Transport {
	t, dial := base.Clone(), base.DialContext
	t.Proxy = nil
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnproven, err)
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		defer stop()
		if err := prove(conn, RunHeader, key, within); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return conn, nil
	}
	return t
}

// prove asks the server at the other end of conn for a proof that it knows the
// token, and leaves conn ready for requests.
func prove(conn net.Conn, header, token string, within time.Duration) error {
	address, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !address.IP.IsLoopback() {
		return ErrUnproven
	}
	_ = conn.SetDeadline(time.Now().Add(within)) // TCP connections have deadlines
	challenge := rand.Text()
	req, err := http.NewRequest(http.MethodGet, "http://"+address.String()+HealthPath, nil)
	if err != nil {
		return err
	}
	req.Header.Set(ChallengeHeader, challenge)
	if err := req.Write(conn); err != nil {
		return ErrUnproven
	}
	in := bufio.NewReader(io.LimitReader(conn, maxProof))
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return ErrUnproven
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || in.Buffered() > 0 || resp.Close {
		return ErrUnproven
	}
	if !hmac.Equal([]byte(resp.Header.Get(header)), []byte(Of(token, challenge, address.String()))) {
		return ErrUnproven
	}
	return conn.SetDeadline(time.Time{})
}
