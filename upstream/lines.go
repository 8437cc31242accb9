package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines is an MCP connection to a process: one message a line (MCP
// 2026-07-28, Transports, stdio). Lines that are no messages are skipped.
type lines struct {
	proc    *process
	limits  *limits
	log     *slog.Logger
	r       *bufio.Reader
	queue   []jsonrpc.Message
	partial []byte // a message that was written over several lines
	skipped uint
	foreign atomic.Pointer[string] // the first line that was no message
	writing chan struct{}          // holds one value while somebody writes
	closing chan struct{}          // closed when Close begins
	once    sync.Once
	broken  atomic.Pointer[error] // why the server ended, if we did not end it
}

func newLines(p *process, l *limits, log *slog.Logger) *lines {
	return &lines{proc: p, limits: l, log: log, r: bufio.NewReaderSize(p.stdout, 64<<10), writing: make(chan struct{}, 1), closing: make(chan struct{})}
}

func (c *lines) SessionID() string { return "" }

// Close ends the process. It unblocks Read.
func (c *lines) Close() error {
	c.once.Do(func() { close(c.closing) })
	c.proc.close()
	return nil
}

func (c *lines) failure() error {
	if err := c.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// lost notes why the server ended.
func (c *lines) lost(err error) error {
	select {
	case <-c.closing:
		return io.EOF
	default:
		c.broken.CompareAndSwap(nil, &err)
		return err
	}
}

func (c *lines) Read(context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		line, err := c.line()
		if err != nil {
			err = c.lost(err)
			go c.Close() // it may live on, and not read what is written to it
			return nil, err
		}
		if c.queue = append(c.queue, c.messages(line)...); len(c.queue) == 0 && c.partial == nil && len(bytes.TrimSpace(line)) > 0 {
			c.skip(line)
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// messages returns the messages of a line. Some servers indent theirs: such a
// message begins with a line "{" and ends with a line "}".
func (c *lines) messages(line []byte) []jsonrpc.Message {
	found := decodeMessages(line)
	text := bytes.TrimRight(line, "\r\n")
	if c.partial != nil && len(c.partial)+len(line) > c.limits.max {
		if id, ok, _ := answers(c.partial[:min(len(c.partial), edge)], nil); ok {
			found = append(found, &jsonrpc.Response{ID: id, Error: c.limits.tooLong()})
		}
	}
	switch {
	case len(found) > 0, c.partial == nil && string(text) != "{", len(c.partial)+len(line) > c.limits.max:
		c.partial = nil
		return found
	}
	c.partial = append(c.partial, line...)
	if string(text) == "}" {
		found, c.partial = decodeMessages(c.partial), nil
	}
	return found
}

// decodeMessages returns the JSON-RPC messages of data: one, a batch, or none.
func decodeMessages(data []byte) []jsonrpc.Message {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil
	}
	if data[0] == '{' {
		if m := decodeMessage(data); m != nil {
			return []jsonrpc.Message{m}
		}
		return nil
	}
	var all []jsonrpc.Message
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '{' {
		v, err := d.ReadValue()
		if err != nil {
			return all
		}
		all = append(all, decodeMessages(v.Clone())...)
	}
	return all
}

// decodeMessage returns nil for what is no message. Messages may be long or
// many: they are read once, and share the memory of data. The SDK reads only
// what is odd, and errors.
func decodeMessage(data []byte) jsonrpc.Message {
	o, err := parseObject(data)
	if err != nil {
		return nil
	}
	id, hasID := parseID(o.get("id"))
	result, method := o.get("result"), o.text("method")
	if number, ok := unquotedID(o.get("id")); ok && method == "" {
		o = o.set("id", number)
		id, _ = parseID(number)
		data = o.encode()
	}
	switch {
	case o.text("jsonrpc") != "2.0", o.get("error") != nil:
	case result != nil && method == "":
		if hasID {
			return &jsonrpc.Response{ID: id, Result: result}
		}
		return nil
	case result == nil && method != "" && hasID == (o.get("id") != nil):
		return &jsonrpc.Request{ID: id, Method: method, Params: o.get("params")}
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil
	}
	return m
}

// line reads one line; nothing if it is too long for memory: what came of it is
// in the queue then.
func (c *lines) line() ([]byte, error) {
	line := &body{limits: c.limits}
	for {
		part, err := c.r.ReadSlice('\n')
		line.add(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && line.inMemory():
			return line.data, nil
		case err == nil:
			return nil, c.long(line)
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
			line.drop()
			return nil, c.proc.end()
		default:
			line.drop()
			return nil, err
		}
	}
}

// long takes a line that is not in memory.
func (c *lines) long(line *body) error {
	found, err := line.messages()
	if len(found) == 0 && err == nil {
		c.skip(line.begin())
	}
	c.queue = append(c.queue, found...)
	return err
}

// skip logs the first lines, then fewer and fewer.
func (c *lines) skip(line []byte) {
	c.skipped++
	if c.skipped == 1 {
		text := excerpt(line, 200)
		c.foreign.Store(&text)
	}
	if c.skipped <= 3 || bits.OnesCount(c.skipped) == 1 {
		c.log.Warn("the server wrote a line to its stdout that is not a message", "line", excerpt(line, 200), "count", c.skipped)
	}
}

func (c *lines) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n, err := c.write(ctx, append(data, '\n'))
	switch {
	case err == nil:
		return nil
	case n == 0 && ctx.Err() != nil:
		return ctx.Err()
	case n > 0: // half a message is on its way: nothing can follow it
		go c.Close()
	}
	return c.lost(c.proc.end())
}

// write writes to the process until ctx is done, as it may not be reading.
func (c *lines) write(ctx context.Context, data []byte) (int, error) {
	c.proc.stdin.SetWriteDeadline(time.Time{})
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.proc.stdin.SetWriteDeadline(time.Unix(1, 0))
		close(expired)
	})
	n, err := c.proc.stdin.Write(data)
	if !stop() {
		<-expired
	}
	return n, err
}
