package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
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

func (a *answer) write(b []byte) {
	a.n += len(b)
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
}

// exchange writes a request and reads its response. As net/http does, it sends
// the request again if a connection that was idle turns out to be closed.
func (c *conn) exchange(request []byte, a *answer) (status int, err error) {
	a.reset()
	last, began := c.last, time.Now()
	h, err := c.send(request)
	if err != nil && !last.IsZero() && began.Sub(last) > time.Second {
		c.closed = true
		h, err = c.send(request)
	}
	if err == nil {
		a.session = h.session
		err = c.readBody(h, a)
	}
	c.last, c.closed = time.Now(), h.close || err != nil
	return h.status, err
}

// send writes a request and reads the head of its response.
func (c *conn) send(request []byte) (head, error) {
	if c.closed {
		fresh, err := connect(c.host, c.from)
		if err != nil {
			return head{}, err
		}
		c.Close()
		*c = *fresh
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return head{}, err
	}
	if _, err := c.Write(request); err != nil {
		return head{}, err
	}
	return c.readHead()
}

// A head is what counts of the head of a response.
type head struct {
	status  int
	length  int64 // -1 if unknown
	chunked bool
	close   bool
	session string
}

func (c *conn) readHead() (h head, err error) {
	h.length = -1
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return h, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return h, fmt.Errorf("not a response of HTTP: %.80q", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return h, err
	}
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return h, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return h, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			h.length, err = strconv.ParseInt(string(value), 10, 64)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			h.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Connection")):
			h.close = bytes.EqualFold(value, []byte("close"))
		case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
			h.session = string(value)
		}
		if err != nil {
			return h, err
		}
	}
}

func (c *conn) readBody(h head, a *answer) error {
	var body io.Reader
	switch {
	case h.chunked:
		body = httputil.NewChunkedReader(c.in)
	case h.length >= 0:
		body = io.LimitReader(c.in, h.length)
	case h.status == 202 || h.status == 204:
		return nil
	default:
		body = c.in
	}
	for {
		n, err := body.Read(c.buffer)
		a.write(c.buffer[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	switch {
	case h.length >= 0 && int64(a.n) != h.length:
		return io.ErrUnexpectedEOF
	case h.chunked:
		_, err := c.in.ReadSlice('\n') // the empty line after the last chunk
		return err
	}
	return nil
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
	e := &events{conn: c, body: c.in}
	if _, err = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nAccept: text/event-stream\r\n\r\n"); err == nil {
		var h head
		if h, err = c.readHead(); err == nil && h.status != 200 {
			err = fmt.Errorf("GET %s: status %d", path, h.status)
		}
		if h.chunked {
			e.body = bufio.NewReaderSize(httputil.NewChunkedReader(c.in), 64<<10)
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return e, nil
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
