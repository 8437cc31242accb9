package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/toolpost/toolpost/internal/wire"
)

// A link is one MCP session with a server of this process, by messages in
// memory. Requests of the CLI go to the server with ids of the link.
//
//	the CLI's request ─▶ served ─▶ calls ─▶ lines ─▶ ServeStdio
//	        answer ◀────────────── calls ◀── Write ◀─┘
//	  notification ◀───────────────── say ◀──┘
type link struct {
	server string
	lines  queue[[]byte] // to the server
	rest   []byte        // of the line that is being read
	say    func(json.RawMessage)

	written []byte // of the server's message

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the session has ended

	calls  wire.Calls  // of the server
	served wire.Served // requests of the CLI
}

// openLink opens a session. The server's own messages go to say, which must not
// wait.
func openLink(ctx context.Context, s *Server, log *slog.Logger, say func(json.RawMessage)) *link {
	l := &link{server: s.name, say: say, done: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(ctx)
	go func() {
		defer close(l.done)
		defer l.close()
		if err := s.mcp.ServeStdio(l.ctx, l, l); err != nil {
			log.Warn("serve tools to the claude CLI", "server", s.name, "error", err)
		}
		l.calls.Close(fmt.Errorf("ask server %q: its session has ended", s.name))
	}()
	return l
}

// close ends the session and cancels its calls. It does not wait for them.
func (l *link) close() {
	l.cancel()
	l.lines.drop()
}

// Read is how the server reads: never more than one message at a time.
func (l *link) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		line, err := l.lines.next(context.Background())
		if err != nil {
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Write takes the messages of the server, answers and its own, one a line. A long
// one comes in pieces.
func (l *link) Write(p []byte) (int, error) {
	if l.written = append(l.written, p...); !bytes.HasSuffix(p, []byte("\n")) {
		return len(p), nil
	}
	message := bytes.TrimSuffix(l.written, []byte("\n"))
	l.written = nil
	found := wire.Read(message)
	for i := range found {
		switch m := &found[i]; {
		case m.Method == "":
			l.calls.Answer(m)
		case l.ctx.Err() == nil:
			l.say(message)
		}
	}
	return len(p), nil
}

// tell hands the server a message that has no answer.
func (l *link) tell(message []byte) { l.lines.put(wire.Line(bytes.Clone(message))) }

// ask hands the server a request. Wait returns its result or error, or what
// ended ctx or the session before. The server hears of the end of ctx.
func (l *link) ask(ctx context.Context, method string, params json.RawMessage) (wait func() (json.RawMessage, error), err error) {
	pending, err := l.calls.Begin()
	if err != nil {
		return nil, err
	}
	l.tell(wire.AppendRequest(nil, pending.ID, method, params))
	stop := context.AfterFunc(ctx, func() {
		l.tell(wire.AppendRequest(nil, nil, cancelled, []byte(`{"requestId":`+string(pending.ID)+`,"reason":"the claude CLI cancelled its request"}`)))
	})
	return func() (json.RawMessage, error) {
		defer pending.End()
		defer stop()
		m, err := pending.Wait(ctx)
		switch {
		case err != nil:
			return nil, err
		case m.Err != nil:
			return nil, wire.ReadError(m.Err)
		}
		return m.Result, nil
	}, nil
}

// call asks the server and waits for the result.
func (l *link) call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	wait, err := l.ask(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return wait()
}

const cancelled = "notifications/cancelled"
