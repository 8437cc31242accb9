package upstream

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// A cable is a connection that can be cut without a word: nothing that is written
// arrives, and nothing comes.
type cable struct {
	net.Conn
	cut    *atomic.Bool
	closed chan struct{}
	once   sync.Once
}

func (c *cable) Write(p []byte) (int, error) {
	if c.cut.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cable) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.cut.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *cable) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A connection of HTTP/2 that died is noticed, and the next call has another one. It
// carries all calls of the server, which would otherwise wait for minutes.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	var cut atomic.Pointer[atomic.Bool] // of the connections that are dialled now
	cut.Store(new(atomic.Bool))
	silent := make(chan struct{})
	var calls atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("the protocol is %s", r.Proto)
		}
		body, _ := io.ReadAll(r.Body)
		found := wire.Read(body)
		switch {
		case len(found) == 0:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case !found[0].IsCall():
			w.WriteHeader(http.StatusAccepted)
		default:
			if found[0].Method == "tools/call" && calls.Add(1) == 2 { // the connection dies while it runs
				cut.Swap(new(atomic.Bool)).Store(true)
				close(silent)
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, new(flooder).answer(&found[0]))
		}
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	u := open(t, &Config{Name: "far", URL: srv.URL + "/mcp", Transport: HTTP, ProtocolVersion: classicVersion, pingAfter: time.Second, pingTimeout: time.Second, Wrap: func(base *http.Transport) http.RoundTripper {
		base.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		dial := base.DialContext
		base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &cable{Conn: c, cut: cut.Load(), closed: make(chan struct{})}, nil
		}
		return base
	}})
	defer u.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := use(ctx, u, nil, "a"); err != nil {
		t.Fatal(err)
	}
	if err := use(ctx, u, nil, "a"); err == nil || ctx.Err() != nil {
		t.Errorf("the call over the dead connection: %v", err)
	}
	<-silent
	if err := use(ctx, u, nil, "a"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}
