package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// stdio is an MCP connection to a process: one message a line (MCP 2026-07-28,
// Transports, stdio). Other lines are skipped.
type stdio struct {
	*peer
	proc    *process
	limits  *limits
	r       *bufio.Reader
	partial *body                        // a message that was written over several lines; nil if there is none
	foreign atomic.Pointer[string]       // the first line that was not a message
	onStray atomic.Pointer[func(string)] // is called with that line; nil if nothing waits for it
	writing chan struct{}                // has one value while a goroutine writes
	done    chan struct{}                // closed when nothing more is read
}

func startStdio(proc *process, l *limits, p *peer) {
	c := &stdio{
		peer: p, proc: proc, limits: l, r: bufio.NewReaderSize(proc.stdout, 64<<10),
		writing: make(chan struct{}, 1), done: make(chan struct{}),
	}
	p.conn = c
	go c.run()
}

// run delivers what the process writes, until it ends.
func (c *stdio) run() {
	defer close(c.done)
	defer recoverPanic(c.log, "read the server's messages", c.lost)
	for {
		line, err := c.line()
		if err != nil {
			c.lost(err)
			return
		}
		c.message(line)
	}
}

// lost ends the connection. The process may live on, and not read what is
// written to it.
func (c *stdio) lost(err error) {
	c.fail(err)
	go c.close()
}

// close ends the process. It returns when nothing is left of it.
func (c *stdio) close() {
	c.fail(errClosed)
	c.proc.close()
	<-c.done
}

func (c *stdio) useVersion(string) {}

// message delivers the messages of a line. Some servers indent theirs: such a
// message begins with a line "{" and ends with a line "}".
func (c *stdio) message(line *body) {
	settled := line.settle()
	text := bytes.TrimRight(line.data, "\r\n")
	switch {
	case c.partial == nil && string(text) != "{":
		c.takeOrSkip(line)
	case !settled || len(wire.Read(text)) > 0: // what came before was not one
		c.partial.drop()
		c.partial = nil
		c.takeOrSkip(line)
	default:
		if c.partial == nil {
			c.partial = &body{limits: c.limits, keeps: line.keeps}
		}
		c.partial.add(line.data)
		if whole := c.partial; string(text) == "}" || whole.head != nil {
			c.partial = nil
			if found, err := c.take(whole, nil); found == 0 && err == nil {
				c.skipBroken("lines to its stdout", whole.begin(), nil)
			}
		}
	}
}

func (c *stdio) takeOrSkip(line *body) {
	found, err := c.take(line, nil)
	switch {
	case err != nil:
		c.lost(err)
	case found == 0 && len(bytes.TrimSpace(line.begin())) > 0:
		if text := line.begin(); c.skipBroken("a line to its stdout", text, nil) {
			shown := excerpt(text, 200)
			c.foreign.Store(&shown)
			c.reportStray()
		}
	}
}

// notifyStray has f called with the first line that is not a message, until stop is called.
func (c *stdio) notifyStray(f func(string)) (stop func()) {
	c.onStray.Store(&f)
	c.reportStray()
	return func() { c.onStray.Store(nil) }
}

func (c *stdio) reportStray() {
	if line, f := c.foreign.Load(), c.onStray.Load(); line != nil && f != nil {
		(*f)(*line)
	}
}

// line reads one line.
func (c *stdio) line() (*body, error) {
	line := &body{limits: c.limits, keeps: c.keeps(nil)}
	for {
		part, err := c.r.ReadSlice('\n')
		line.add(part)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		line.drop()
		if errors.Is(err, io.EOF) {
			err = c.proc.end()
		}
		return nil, err
	}
}

func (c *stdio) call(ctx context.Context, _ *exchange, message []byte) error {
	return c.send(ctx, "", message)
}

// send writes a message. It returns when the message is written, or when ctx is
// done: then a message of which a part is written is completed in the background,
// since other senders use the process too.
func (c *stdio) send(ctx context.Context, _ string, message []byte) error {
	select {
	case c.writing <- struct{}{}: // nearly always, and it costs less by itself
	default:
		select {
		case c.writing <- struct{}{}:
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	line := wire.Line(message)
	n, err := 0, c.proc.stdin.SetWriteDeadline(time.Now().Add(writeTime))
	if !errors.Is(err, os.ErrNoDeadline) { // such as on Windows; then it is written in the background
		n, err = c.proc.stdin.Write(line)
	}
	switch {
	case err == nil:
		<-c.writing
		return nil
	case n == 0 && ctx.Err() != nil:
		<-c.writing
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-c.writing }()
		done <- c.complete(ctx, line[n:])
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// writeTime is how long a sender itself writes, since the process may not be
// reading.
const writeTime = 20 * time.Millisecond

// complete writes the rest of a message. The process may be slow while the sender
// waits. After that, one that does not read the message in time is ended: nothing
// can follow half a message.
func (c *stdio) complete(ctx context.Context, rest []byte) error {
	_ = c.proc.stdin.SetWriteDeadline(time.Time{})
	limited, written := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(limited)
		c.limitWrite(written)
	})
	_, err := c.proc.stdin.Write(rest)
	close(written)
	if !stop() {
		<-limited // the next message has a deadline of its own
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.lost(errUnread)
	default:
		c.lost(c.proc.end()) // which waits a little for the process to end
	}
	return context.Cause(c.ctx)
}

var errUnread = fmt.Errorf("it did not read a message within %v", answerTimeout)

// limitWrite ends the process if what is being written is not written in time.
func (c *stdio) limitWrite(written <-chan struct{}) {
	err := c.proc.stdin.SetWriteDeadline(time.Now().Add(answerTimeout))
	if !errors.Is(err, os.ErrNoDeadline) {
		return
	}
	timer := time.NewTimer(answerTimeout)
	go func() {
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
			c.lost(errUnread)
		}
	}()
}
