package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// A conn is one connection that is kept open. It dials again if the other side
// has closed it.
type conn struct {
	net.Conn
	host   string
	from   string
	in     *bufio.Reader
	last   time.Time // when it was used
	closed bool      // by the other side
	buffer []byte
}

func connect(host, from string) (*conn, error) {
	d := net.Dialer{Timeout: patience}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	c, err := d.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, host: host, from: from, in: bufio.NewReaderSize(c, 16<<10), buffer: make([]byte, 64<<10)}, nil
}

// An answer is the body of a response: its first and last bytes, and how many
// there were.
type answer struct {
	whole      bool // keep all of it in head
	head, tail []byte
	n          int
	session    string // Mcp-Session-Id
}

// kept is how many bytes of each end of an answer are kept.
const kept = 4 << 10

func (a *answer) reset() { a.head, a.tail, a.n = a.head[:0], a.tail[:0], 0 }

// Write takes a part of the body.
func (a *answer) Write(b []byte) (int, error) {
	n := len(b)
	a.n += n
	if a.whole {
		a.head = append(a.head, b...)
	} else if room := kept - len(a.head); room > 0 {
		a.head = append(a.head, b[:min(room, len(b))]...)
	}
	b = b[max(0, len(b)-kept):]
	if over := len(a.tail) + len(b) - kept; over > 0 {
		a.tail = a.tail[:copy(a.tail, a.tail[over:])]
	}
	a.tail = append(a.tail, b...)
	return n, nil
}

// exchange writes a request and reads its response. As net/http does, it sends
// the request again if a connection that was idle turns out to be closed.
func (c *conn) exchange(request []byte, a *answer) (status int, err error) {
	a.reset()
	last, began := c.last, time.Now()
	r, err := c.send(request)
	if err != nil && !last.IsZero() && began.Sub(last) > time.Second {
		c.closed = true
		r, err = c.send(request)
	}
	if err == nil {
		status, a.session = r.StatusCode, r.Header.Get("Mcp-Session-Id")
		_, err = io.CopyBuffer(a, struct{ io.Reader }{r.Body}, c.buffer)
	}
	c.last, c.closed = time.Now(), err != nil || r.Close
	return status, err
}

// send writes a request and reads the head of its response.
func (c *conn) send(request []byte) (*http.Response, error) {
	if c.closed {
		fresh, err := connect(c.host, c.from)
		if err != nil {
			return nil, err
		}
		c.Close()
		*c = *fresh
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}

// events reads the stream of the legacy transport.
type events struct {
	conn *conn
	body *bufio.Reader
}

func openEvents(host, path string) (*events, error) {
	c, err := connect(host, "")
	if err != nil {
		return nil, err
	}
	r, err := c.send([]byte("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: text/event-stream\r\n\r\n"))
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d", path, r.StatusCode)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return &events{c, bufio.NewReaderSize(r.Body, 64<<10)}, nil
}

// next returns the data of the next event of a kind.
func (e *events) next(kind string) ([]byte, error) {
	if err := e.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	name := "message"
	for {
		line, err := e.body.ReadBytes('\n')
		if err != nil {
			return nil, errors.Join(errors.New("the event stream has ended"), err)
		}
		field, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		switch value = strings.TrimPrefix(value, " "); {
		case field == "":
			name = "message"
		case field == "event":
			name = value
		case field == "data" && name == kind:
			return []byte(value), nil
		}
	}
}

func (e *events) close() { e.conn.Close() }
