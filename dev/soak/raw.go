//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"
)

// stuckSize is the size of an answer that does not fit into the buffers of a socket.
const stuckSize = 8 << 20

// A socket is a connection of a client that writes HTTP by hand.
type socket struct {
	*client
	conn    *net.TCPConn
	in      *bufio.Reader
	session string
}

// open connects, and initializes in the era of sessions.
func (c *client) open(ctx context.Context) (*socket, error) {
	u, err := url.Parse(c.url)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	s := &socket{client: c, conn: conn.(*net.TCPConn), in: bufio.NewReader(conn)}
	if err := s.initialize(); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) initialize() error {
	if s.era == statelessEra {
		return nil
	}
	for _, message := range []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{},"sampling":{}},"clientInfo":{"name":%q,"version":"1"}}}`, s.era, s.prefix),
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		if _, err := s.conn.Write(s.request(http.MethodPost, "", message)); err != nil {
			return err
		}
		response, err := s.response()
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err != nil || response.StatusCode/100 != 2 {
			return fmt.Errorf("initialize: %s %v", response.Status, err)
		}
		if id := response.Header.Get("Mcp-Session-Id"); id != "" {
			s.session = id
		}
	}
	return nil
}

// request returns the bytes of an HTTP request. The tool is that of a call.
func (s *socket) request(method, tool, body string) []byte {
	r, _ := http.NewRequest(method, s.url, bytes.NewReader([]byte(body))) // the address was parsed before
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", s.era)
	if s.session != "" {
		r.Header.Set("Mcp-Session-Id", s.session)
	}
	if s.era == statelessEra {
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", tool)
	}
	var out bytes.Buffer
	_ = r.Write(&out) // a buffer takes everything
	return out.Bytes()
}

// call returns the bytes of a call.
func (s *socket) call(tool string, in nonce) []byte {
	arguments, _ := json.Marshal(in) // it always can
	meta := fmt.Sprintf(`{"progressToken":%q}`, in.Nonce)
	if s.era == statelessEra {
		// All have one name, so that the limit of one client bounds the calls whose
		// questions have no answer.
		meta = fmt.Sprintf(`{"progressToken":%q,"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{}},"io.modelcontextprotocol/logLevel":"debug"}`, in.Nonce, s.era)
	}
	return s.request(http.MethodPost, tool, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, tool, arguments, meta))
}

func (s *socket) response() (*http.Response, error) {
	response, err := http.ReadResponse(s.in, nil)
	if err == nil {
		response.Body = checkBody(response.Body, s.prefix, s.t)
	}
	return response, err
}

// leave closes the connection, half of the times with a reset. Half of the sessions
// are ended, the others are forgotten.
func (s *socket) leave() {
	if rand.IntN(2) == 0 {
		_ = s.conn.SetLinger(0) // it may be closed
	}
	s.conn.Close()
	if s.session == "" || rand.IntN(2) == 0 {
		return
	}
	r, _ := http.NewRequest(http.MethodDelete, s.url, nil) // the address was parsed before
	r.Header.Set("Mcp-Session-Id", s.session)
	web := &http.Transport{DisableKeepAlives: true}
	if response, err := web.RoundTrip(r); err == nil {
		response.Body.Close()
	}
}

// vanish leaves in the middle of an answer or a question.
func (c *client) vanish(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	defer context.AfterFunc(ctx, func() { s.conn.Close() })()
	servers := []string{shared, auto, web, steady}
	server, tool := servers[rand.IntN(len(servers))], "__echo"
	if rand.IntN(4) == 0 {
		server, tool = servers[1+rand.IntN(3)], "__ask"
		if server == auto && c.era == statelessEra { // the call would keep its process for minutes
			server = web
		}
	}
	if _, err := s.conn.Write(s.call(server+tool, nonce{Nonce: c.prefix + "0", Wait: 500, Size: rand.IntN(256 << 10)})); err != nil {
		return err
	}
	response, err := s.response()
	if err != nil {
		return err
	}
	_, _ = io.ReadAtLeast(response.Body, make([]byte, 200), 1+rand.IntN(200)) // an answer may be shorter
	c.t.add("vanished")
	return nil
}

// getStuck makes a call with a large answer and listens, and reads neither.
func (c *client) getStuck(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	_ = s.conn.SetReadBuffer(4 << 10) // less is better, but not needed
	if s.session != "" {
		listener := *s
		conn, err := net.Dial("tcp", s.conn.RemoteAddr().String())
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write(listener.request(http.MethodGet, "", "")); err != nil {
			return err
		}
	}
	if _, err := s.conn.Write(s.call(steady+"__echo", nonce{Nonce: c.prefix + "0", Size: stuckSize})); err != nil {
		return err
	}
	pause(ctx, c.stuck)
	c.t.add("did not read")
	return nil
}

// sendSlowly makes calls whose requests arrive in small pieces.
func (c *client) sendSlowly(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	defer context.AfterFunc(ctx, func() { s.conn.Close() })()
	for i := range 3 {
		id := fmt.Sprint(c.prefix, i)
		for rest := s.call(steady+"__echo", nonce{Nonce: id}); len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(40))
			if _, err := s.conn.Write(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
			pause(ctx, 10*time.Millisecond)
		}
		response, err := s.response()
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		if !bytes.Contains(body, fmt.Appendf(nil, `"text":%q`, id)) || bytes.Contains(body, []byte(`"isError":true`)) {
			return fmt.Errorf("the slow call %s was answered with %s %.300q", id, response.Status, body)
		}
		c.t.add("sent slowly")
	}
	return nil
}
