package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// A reply is the response to one HTTP request: JSON, or a stream of events if
// messages come before the result.
type reply struct {
	w      http.ResponseWriter
	accept acceptance
	broken func() // is called when a write fails; may be nil

	mu      sync.Mutex
	started bool // as a stream
	ended   bool // nothing more may be written
}

var errReplied = errors.New("the response has ended")

// send implements [sender]. What a handler sends after its result is dropped.
func (p *reply) send(_ context.Context, message []byte) error {
	if !p.accept.events {
		return errNoStream
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return errReplied
	}
	return p.event("message", message)
}

// start begins a stream with a comment, which proxies pass on at once.
func (p *reply) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stream()
	return p.check(writePaced(p.w, []byte(": ok\n\n")))
}

// event writes an event. The lock is held.
func (p *reply) event(name string, data []byte) error {
	p.stream()
	return p.check(writePaced(p.w, event(name, data)))
}

func (p *reply) check(err error) error {
	if err != nil && p.broken != nil {
		p.broken()
	}
	return err
}

// stream writes the header of a stream, once. The lock is held.
func (p *reply) stream() {
	if p.started {
		return
	}
	p.started = true
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.Header().Set("Cache-Control", "no-cache, no-transform")
	p.w.WriteHeader(http.StatusOK)
}

// end writes the response that has these parts. The client has left if it fails.
func (p *reply) end(status int, response ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if !p.started && (p.accept.json || status != http.StatusOK) {
		writeJSON(p.w, status, response...)
		return
	}
	_ = p.event("message", bytes.Join(response, nil))
}

// stop ends a stream: nothing is written any more when it returns.
func (p *reply) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// finish writes the response to a call.
func (p *reply) finish(id, result []byte, fault *wire.Error, status int) {
	if fault != nil {
		p.end(status, wire.AppendError(nil, id, fault))
		return
	}
	head := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	p.end(http.StatusOK, append(head, `,"result":`...), result, []byte{'}'})
}

const (
	// writeTime is how long a client may take to read one chunk.
	writeTime  = 30 * time.Second
	writeChunk = 64 << 10
)

// writePaced writes and flushes what has these parts. A client that stops
// reading breaks its connection; a slow one may take as long as it needs.
func writePaced(w http.ResponseWriter, parts ...[]byte) error {
	c := http.NewResponseController(w)
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }()
	_ = c.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer has deadlines
	left := writeChunk
	for _, part := range parts {
		for len(part) > 0 {
			n := min(left, len(part))
			if _, err := w.Write(part[:n]); err != nil {
				return err
			}
			part = part[n:]
			if left -= n; left == 0 {
				left = writeChunk
				_ = c.SetWriteDeadline(time.Now().Add(writeTime))
			}
		}
	}
	if err := c.Flush(); err != nil && !errors.Is(err, errors.ErrUnsupported) { // such a writer flushes at its end
		return err
	}
	return nil
}

// event returns a server-sent event. A carriage return would end a line; in
// JSON it can only be white space.
func event(name string, data []byte) []byte {
	b := make([]byte, 0, len(data)+len(name)+32)
	b = append(append(append(b, "event: "...), name...), '\n')
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte{'\r'}, []byte{' '})
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	return append(b, '\n')
}

func writeJSON(w http.ResponseWriter, status int, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	_ = writePaced(w, parts...) // the client is gone if it fails
}

// refuse answers what is not served with an error.
func refuse(w http.ResponseWriter, status int, id []byte, fault *wire.Error) {
	writeJSON(w, status, wire.AppendError(nil, id, fault))
}

// faultID returns the id that the answer to a bad message has.
func faultID(msgs []wire.Message, fault *wire.Error) []byte {
	if len(msgs) != 1 || fault.Code == wire.CodeParse {
		return nil
	}
	return msgs[0].ID
}
