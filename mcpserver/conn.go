package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A conn is a session's connection over a transport of our own: stdio or
// legacy SSE. The transport delivers messages and writes what is sent.
type conn struct {
	id       string
	in       chan message
	write    func([]byte) error // called by one at a time; see emit
	turn     chan struct{}      // full while somebody writes
	old      bool               // the transport is not defined for 2026-07-28
	from     http.Header        // of the request that opened the session; nil if none did
	identity string             // of the client that opened it
	pending
	closed chan struct{}
	once   sync.Once
}

// pending are the calls that came and are not answered.
type pending struct {
	mu      sync.Mutex
	open    map[string]openCall // by id
	size    int                 // of their parameters, in bytes
	all     *atomic.Int64       // sizes of all sessions of the transport; nil if there is one
	leaving int                 // answers that are being written
	ended   bool                // no more messages come
	idle    chan struct{}       // closed when ended and no call is open
	batches bool                // the session's version has them
}

// An openCall is a call that is not answered.
type openCall struct {
	batch *batch // nil if it came alone
	size  int
}

// take forgets a call that is answered or withdrawn. The lock is held.
func (c *pending) take(id string) *batch {
	call := c.open[id]
	c.grow(-call.size)
	delete(c.open, id)
	return call.batch
}

// grow counts the parameters of calls. The lock is held.
func (c *pending) grow(size int) {
	c.size += size
	if c.all != nil {
		c.all.Add(int64(size))
	}
}

// abandon forgets all calls: the session is over.
func (c *pending) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grow(-c.size)
	clear(c.open)
}

// A batch is calls that came together; their answers leave together.
type batch struct {
	left    int
	answers [][]byte
}

var (
	_ mcp.Transport                = (*conn)(nil)
	_ mcp.Connection               = (*conn)(nil)
	_ mcp.ProtocolVersionSupporter = (*conn)(nil)
)

func newConn(write func([]byte) error) *conn {
	return &conn{
		id: rand.Text(), in: make(chan message), write: write, turn: make(chan struct{}, 1), closed: make(chan struct{}),
		pending: pending{open: map[string]openCall{}, batches: true, idle: make(chan struct{})},
	}
}

// Connect implements [mcp.Transport].
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SupportsProtocolVersion implements [mcp.ProtocolVersionSupporter].
func (c *conn) SupportsProtocolVersion(version string) bool { return !c.old || version < stateless }

// SessionID implements [mcp.Connection].
func (c *conn) SessionID() string { return c.id }

// deliver hands what came to the session, unless that has ended.
func (c *conn) deliver(ctx context.Context, msgs []message, together bool) error {
	if fault := c.accept(msgs, together); fault != nil {
		return fault
	}
	for i, m := range msgs {
		select {
		case c.in <- m:
			continue
		case <-c.closed:
		case <-ctx.Done():
		}
		c.withdraw(msgs[i:])
		return errClosed
	}
	return nil
}

// awaited tells calls that are to be answered soon from subscriptions, which
// end with the session.
func (m *message) awaited() bool { return m.isCall() && m.method != listenMethod }

// accept notes the calls among msgs, all or none.
func (c *conn) accept(msgs []message, together bool) *jsonrpc.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fault := c.admit(msgs, together); fault != nil {
		return fault
	}
	var b *batch
	if together {
		b = &batch{}
	}
	for _, m := range msgs {
		if !m.awaited() {
			continue
		}
		if m.method == "initialize" {
			v := text(get(m.params, "protocolVersion"))
			c.batches = v <= lastBatch && slices.Contains(mcp.SupportedProtocolVersions(), v)
		}
		c.open[string(m.id)] = openCall{b, len(m.params)}
		c.grow(len(m.params))
		if together {
			b.left++
		}
	}
	return nil
}

// admit reports why messages cannot be accepted. The lock is held.
func (c *pending) admit(msgs []message, together bool) *jsonrpc.Error {
	if together && !c.batches {
		return rpcError(jsonrpc.CodeInvalidRequest, "this version of the protocol has no batches; send one message at a time")
	}
	if c.all != nil && c.all.Load() > maxAllBytes {
		return rpcError(jsonrpc.CodeInvalidRequest, "too many large calls are under way; try again later")
	}
	size := c.size
	for _, m := range msgs {
		if _, twice := c.open[string(m.id)]; twice && m.awaited() {
			return rpcError(jsonrpc.CodeInvalidRequest, "the id %s is in use", m.id)
		}
		size += len(m.params)
		if m.awaited() && len(c.open) > 0 && (len(c.open) >= maxCalls || size > maxCallBytes) {
			return rpcError(jsonrpc.CodeInvalidRequest, "the session has %d calls under way; wait for some of them", len(c.open))
		}
	}
	return nil
}

// withdraw forgets calls that were accepted but not delivered. What they came
// with may be complete without them.
func (c *conn) withdraw(msgs []message) {
	for _, answers := range c.forget(msgs) {
		_ = c.emit(context.Background(), answers) // the client is gone if it fails
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
}

// forget returns the batches that are complete without msgs.
func (c *conn) forget(msgs []message) (complete [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range msgs {
		if !m.awaited() {
			continue
		}
		b := c.take(string(m.id))
		if b == nil {
			continue
		}
		if b.left--; b.left == 0 && len(b.answers) > 0 {
			complete = append(complete, b.join())
		}
	}
	return complete
}

// finish says that no more messages come; idle closes when all calls are answered.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.settle()
}

// settle closes idle if it is time. The lock is held.
func (c *conn) settle() {
	if c.ended && len(c.open) == 0 && c.leaving == 0 {
		select {
		case <-c.idle:
		default:
			close(c.idle)
		}
	}
}

// Read implements [mcp.Connection].
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m.forLibrary(c.from)
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("write message: %v", p)
		}
	}()
	data, err := encodeMessage(msg)
	if err != nil {
		return err
	}
	if r, ok := msg.(*jsonrpc.Response); ok {
		defer c.answered()
		if data = c.answer(string(encodeID(r.ID)), data); data == nil {
			return nil
		}
	}
	return c.emit(ctx, data)
}

// answer returns what is to be sent for the answer to a call.
func (c *conn) answer(id string, data []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving++
	return c.take(id).add(data)
}

func (c *conn) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving--
	c.settle()
}

// emit writes one message. It waits for its turn, but not longer than ctx or
// the session last. A client that does not read ends its session.
func (c *conn) emit(ctx context.Context, data []byte) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return errClosed
	}
	defer func() { <-c.turn }()
	err := c.write(data)
	if err != nil {
		_ = c.Close() // never fails
	}
	return err
}

// add returns what is to be sent now: a batch waits for its last answer.
func (b *batch) add(answer []byte) []byte {
	if b == nil {
		return answer
	}
	b.answers = append(b.answers, answer)
	if b.left--; b.left > 0 {
		return nil
	}
	return b.join()
}

func (b *batch) join() []byte {
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

// Close implements [mcp.Connection].
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// forLibrary returns the message as the library has it. The library reads on a
// goroutine that recovers no panic.
func (m *message) forLibrary(from http.Header) (msg jsonrpc.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			msg, err = nil, fmt.Errorf("read message: %v", p)
		}
	}()
	return m.toLibrary(from)
}

// toLibrary returns requests of ours without their arguments, and answers as
// errors.
func (m *message) toLibrary(from http.Header) (jsonrpc.Message, error) {
	id, err := m.libraryID()
	if err != nil {
		return nil, err
	}
	if m.method == "" {
		fault := &jsonrpc.Error{Code: answerCode, Data: m.answer}
		if m.failed {
			fault = m.clientError()
		}
		return &jsonrpc.Response{ID: id, Error: fault}, nil
	}
	req := &jsonrpc.Request{ID: id, Method: m.method, Params: m.params}
	header := http.Header{}
	maps.Copy(header, from)
	req.Extra = &mcp.RequestExtra{Header: header}
	switch {
	case ours(m.method):
		req.Params = m.carry(header)
		if m.meta != nil { // the library looks for the version here
			req.Params = json.RawMessage(`{"_meta":` + string(m.meta) + `}`)
		}
	case m.method == pingMethod:
		req.Params = m.pingParams()
	}
	return req, nil
}

// pingParams returns the parameters of a ping, without what only the server
// itself may put there.
func (m *message) pingParams() json.RawMessage {
	if m.meta == nil {
		return m.params
	}
	return put(m.params, "_meta", edit(m.meta, metaUnknown, func(json.RawMessage) json.RawMessage { return nil }))
}

func (m *message) libraryID() (jsonrpc.ID, error) {
	switch {
	case m.id == nil:
		return jsonrpc.ID{}, nil
	case m.id[0] == '"':
		return jsonrpc.MakeID(text(m.id))
	}
	n, err := strconv.ParseFloat(string(m.id), 64)
	if err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(n)
}

// clientError returns the error that a response carries.
func (m *message) clientError() *jsonrpc.Error {
	fault := &jsonrpc.Error{}
	if err := json.Unmarshal(m.answer, fault); err != nil || fault.Code == answerCode {
		return rpcError(jsonrpc.CodeInternalError, "the client answered %.200s", m.answer)
	}
	return fault
}
