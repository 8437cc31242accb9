package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A conn is a session's connection over a transport of our own: stdio or
// legacy SSE. The transport delivers messages and writes what is sent.
type conn struct {
	id    string
	in    chan message
	write func([]byte) error // called by one at a time
	old   bool               // the transport is not defined for 2026-07-28
	from  http.Header        // of the request that opened the session; nil if none did

	mu      sync.Mutex
	open    map[string]*batch // ids of unanswered calls
	ended   bool              // no more messages come
	idle    chan struct{}     // closed when ended and no call is open
	batches bool              // the session's version has them
	closed  chan struct{}
	once    sync.Once
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
		id: rand.Text(), in: make(chan message), write: write, open: map[string]*batch{}, batches: true,
		idle: make(chan struct{}), closed: make(chan struct{}),
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
func (m *message) awaited() bool { return m.isCall() && m.method != "subscriptions/listen" }

// accept notes the calls among msgs, all or none.
func (c *conn) accept(msgs []message, together bool) *jsonrpc.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if together && !c.batches {
		return rpcError(jsonrpc.CodeInvalidRequest, "this version of the protocol has no batches; send one message at a time")
	}
	for _, m := range msgs {
		if _, twice := c.open[string(m.id)]; twice && m.awaited() {
			return rpcError(jsonrpc.CodeInvalidRequest, "the id %s is in use", m.id)
		}
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
		c.open[string(m.id)] = b
		if together {
			b.left++
		}
	}
	return nil
}

// withdraw forgets calls that were accepted but not delivered. What they came
// with may be complete without them.
func (c *conn) withdraw(msgs []message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	for _, m := range msgs {
		if !m.awaited() {
			continue
		}
		b := c.open[string(m.id)]
		delete(c.open, string(m.id))
		if b == nil {
			continue
		}
		if b.left--; b.left == 0 && len(b.answers) > 0 {
			_ = c.write(b.join()) // the client is gone if it fails
		}
	}
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
	if c.ended && len(c.open) == 0 {
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
		return m.toLibrary(c.from)
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := encodeMessage(msg)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := msg.(*jsonrpc.Response); ok {
		id := string(encodeID(r.ID))
		b := c.open[id]
		delete(c.open, id)
		defer c.settle()
		if data = b.add(data); data == nil {
			return nil
		}
	}
	return c.write(data)
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

// send writes a message that the session does not know of.
func (c *conn) send(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.write(data)
}

// Close implements [mcp.Connection].
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// toLibrary returns the message as the library has it: requests of ours
// without their arguments, answers as errors.
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
	if ours(m.method) {
		req.Params = m.carry(header)
		if m.meta != nil { // the library looks for the version here
			req.Params = json.RawMessage(`{"_meta":` + string(m.meta) + `}`)
		}
	}
	return req, nil
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

// encodeMessage writes results as they are: the library encodes them before.
// Errors to which it gives no code are those of requests at a wrong time.
func encodeMessage(msg jsonrpc.Message) ([]byte, error) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return jsonrpc.EncodeMessage(msg)
	}
	if r.Error == nil {
		return response(encodeID(r.ID), r.Result), nil
	}
	fault := rpcError(jsonrpc.CodeInvalidRequest, "%v", r.Error)
	var coded *jsonrpc.Error
	if errors.As(r.Error, &coded) {
		fault.Code, fault.Data = coded.Code, coded.Data
	}
	return failure(encodeID(r.ID), fault), nil
}

func encodeID(id jsonrpc.ID) []byte {
	switch v := id.Raw().(type) {
	case string:
		return quote(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	}
	return []byte("null")
}

// response writes the response that carries a result.
func response(id, result []byte) []byte {
	const head, middle = `{"jsonrpc":"2.0","id":`, `,"result":`
	b := make([]byte, 0, len(head)+len(id)+len(middle)+len(result)+1)
	b = append(append(b, head...), id...)
	b = append(append(b, middle...), result...)
	return append(b, '}')
}

// failure writes the response that carries an error; without id, it is null.
func failure(id json.RawMessage, fault *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(appendError(append(b, `,"error":`...), fault), '}')
}

func appendError(b []byte, fault *jsonrpc.Error) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), fault.Code, 10)
	b = append(append(b, `,"message":`...), quote(fault.Message)...)
	if fault.Data != nil {
		b = append(append(b, `,"data":`...), fault.Data...)
	}
	return append(b, '}')
}
