package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// A link is one MCP session with a server, by messages in memory.
type link struct {
	server string
	in     *queue[frame] // to the server
	out    *queue[json.RawMessage]
	cancel context.CancelFunc
	done   chan struct{} // closed when the session has ended

	rest []byte // of the frame that is being read

	mu      sync.Mutex
	reading any // the id of that frame
	waiting map[any]chan json.RawMessage
}

// A frame is one message and its JSON-RPC id, nil if it has none.
type frame struct {
	id   any
	data []byte
}

// An envelope is what tells JSON-RPC messages apart.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// openLink opens a session. What the server sends of itself goes to post, which
// may wait.
func openLink(ctx context.Context, s *Server, log *slog.Logger, post func(context.Context, json.RawMessage)) *link {
	ctx, cancel := context.WithCancel(ctx)
	l := &link{
		server: s.name, cancel: cancel, done: make(chan struct{}),
		in: newQueue[frame](), out: newQueue[json.RawMessage](),
		waiting: map[any]chan json.RawMessage{},
	}
	go func() {
		defer close(l.done)
		defer l.out.close()
		defer l.in.close()
		if err := s.mcp.ServeStdio(ctx, l, l); err != nil {
			log.Warn("serve tools to the claude CLI", "server", s.name, "error", err)
		}
	}()
	go func() {
		for m, ok := l.out.next(); ok; m, ok = l.out.next() {
			post(ctx, m)
		}
	}()
	return l
}

// close ends the session and cancels its calls. It does not wait for them.
func (l *link) close() {
	l.cancel()
	l.in.close()
	l.out.close()
}

// Read is how the server reads: never more than one message at a time.
func (l *link) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		f, ok := l.in.next()
		if !ok {
			return 0, io.EOF
		}
		l.rest = append(f.data, '\n')
		l.mu.Lock()
		l.reading = f.id
		l.mu.Unlock()
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Write takes one message of the server: an answer, or something of its own.
func (l *link) Write(p []byte) (int, error) {
	message := bytes.Clone(bytes.TrimSuffix(p, []byte("\n")))
	var e envelope
	if err := json.Unmarshal(message, &e); err != nil {
		return 0, fmt.Errorf("read a message of server %q: %w", l.server, err)
	}
	if e.Method != "" {
		l.out.put(message)
		return len(p), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := key(e.ID)
	if id == nil {
		id = l.reading // it could not be read
	}
	l.resolve(id, message)
	return len(p), nil
}

// resolve gives an answer to who waits for it. The lock is held.
func (l *link) resolve(id any, answer json.RawMessage) {
	if c := l.waiting[id]; c != nil {
		delete(l.waiting, id)
		c <- answer
	}
}

// key makes JSON-RPC ids comparable; nil for null and none.
func key(id json.RawMessage) any {
	var v any
	if id == nil || json.Unmarshal(id, &v) != nil {
		return nil
	}
	switch v.(type) {
	case nil, string, float64:
		return v
	}
	return string(id)
}

// tell hands the server a message that has no answer.
func (l *link) tell(message json.RawMessage) { l.in.put(frame{data: bytes.Clone(message)}) }

// ask hands the server a request. Wait ends with its answer, with ctx or with
// the session.
func (l *link) ask(id any, message json.RawMessage) (wait func(context.Context) (json.RawMessage, error), err error) {
	answer := make(chan json.RawMessage, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[id] != nil {
		return nil, fmt.Errorf("ask server %q: the id %v is in use", l.server, id)
	}
	l.waiting[id] = answer
	l.in.put(frame{id, bytes.Clone(message)})
	return func(ctx context.Context) (json.RawMessage, error) {
		select {
		case a := <-answer:
			return a, nil
		default:
		}
		select {
		case a := <-answer:
			return a, nil
		case <-l.done:
			return nil, fmt.Errorf("ask server %q: its session has ended", l.server)
		case <-ctx.Done():
			l.give(id, "the claude CLI cancelled its request")
			return nil, ctx.Err()
		}
	}, nil
}

// give gives a request up: the server is told to cancel it.
func (l *link) give(id any, reason string) {
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "method": cancelled, "params": map[string]any{"requestId": id, "reason": reason},
	})
	if err != nil {
		return // no JSON-RPC id is like that
	}
	l.mu.Lock()
	delete(l.waiting, id)
	l.mu.Unlock()
	l.tell(message)
}

// drop answers a request that the CLI does not wait for any more.
func (l *link) drop(id json.RawMessage) {
	k := key(id)
	if k == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resolve(k, json.RawMessage(`{"jsonrpc":"2.0","id":`+string(id)+`,"error":{"code":-32800,"message":"the request was cancelled"}}`))
}

const cancelled = "notifications/cancelled"
