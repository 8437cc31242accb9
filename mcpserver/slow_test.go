package mcpserver_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
)

// pipeListener accepts one connection.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// exchangeSlowly sends head at once, the body after a pause, and returns the
// status and the body of the answer.
func exchangeSlowly(t *testing.T, h http.Handler, head, body string, pause time.Duration) (int, string) {
	t.Helper()
	client, server := net.Pipe()
	l := &pipeListener{make(chan net.Conn, 1), make(chan struct{})}
	l.conns <- server
	s := &http.Server{Handler: h}
	go s.Serve(l)
	defer s.Close()
	defer client.Close()
	go func() {
		_, _ = io.WriteString(client, head) // what is amiss shows in the answer
		time.Sleep(pause)
		_, _ = io.WriteString(client, body)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(pause) // until the writer is done
	return resp.StatusCode, string(answer)
}

// A body has its time; the call that it carries is not bound by it.
func TestSlowBodies(t *testing.T) {
	body, header := modernCall("slow", "{}", "")
	for _, tt := range []struct {
		pause  time.Duration
		status int
		want   string
	}{
		{20 * time.Second, 200, "done"},
		{time.Hour, 408, "30s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := newServer(t, nil, rawTool("slow", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
				select {
				case <-time.After(5 * time.Minute):
					return toolpost.TextResult("done"), nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}))
			head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
				strconv.Itoa(len(body)) + "\r\n" + strings.ReplaceAll(header, "\n", "\r\n") + "\r\n"
			status, answer := exchangeSlowly(t, s, head, body, tt.pause)
			if status != tt.status || !strings.Contains(answer, tt.want) {
				t.Errorf("after %v: %d %s", tt.pause, status, answer)
			}
		})
	}
}
