package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

const (
	maxLine = 64 << 20
	// drainTime is how long calls may go on when the input has ended. A client
	// that has ended cannot use their results; a pipe that was written to its
	// end can.
	drainTime = 2 * time.Second
	// closeTime is how long handlers may take to see that their call has ended.
	closeTime = 2 * time.Second
)

// ServeStdio serves one session on in and out until in ends or ctx is done.
// Calls that are open when in ends have two seconds to finish; then they are
// canceled. Nothing but JSON-RPC is written to out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session := s.core.newSession(opener{transport: "stdio", holder: "stdio"})
	session.stateless = true
	buffer := bufio.NewWriterSize(out, writeChunk)
	d := session.newDuplex(func(message payload) error {
		return errors.Join(framing{lineBreak: " ", after: "\n"}.write(buffer, message, func() {}), buffer.Flush())
	})
	defer d.end(errEnded)
	read := make(chan error, 1)
	go func() { read <- d.readLines(ctx, in) }()
	var err error
	select {
	case err = <-read:
		s.drain(ctx, d)
	case <-ctx.Done():
	case <-s.core.life.Done():
	case <-d.done:
	}
	d.end(errEnded)
	select {
	case <-d.open.Idle():
	case <-time.After(closeTime):
	}
	if err != nil && !errors.Is(err, errEnded) && !errors.Is(err, errClosed) {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

// drain waits until the calls are answered whose client sends nothing more.
func (s *Server) drain(ctx context.Context, d *duplex) {
	idle := d.open.Idle()
	select {
	case <-idle:
		return
	default:
		s.core.ready.awaitList(ctx, listTools, d.name)
	}
	select {
	case <-idle:
	case <-ctx.Done():
	case <-d.done:
	case <-time.After(drainTime):
	}
}

// readLines delivers the messages of in, one a line. A bad line is answered
// with an error, and the session goes on.
func (d *duplex) readLines(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := wire.ReadLine(r, maxLine)
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = d.refuse(nil, wire.Errorf(wire.CodeInvalidRequest, "the line is longer than %d bytes", maxLine))
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(bytes.TrimSpace(line)) > 0:
			err = d.deliverLine(ctx, line)
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
}

func (d *duplex) refuse(id []byte, fault *wire.Error) error {
	return d.send(context.Background(), wire.AppendError(nil, id, fault))
}

// deliverHeld delivers messages of so many bytes, if the client has room for them.
func (d *duplex) deliverHeld(ctx context.Context, msgs []wire.Message, batch bool, size int) error {
	held := newHold(d.core.held, d.quotaHolder(), size)
	switch {
	case held == nil:
		return errTooMuch()
	case d.core.starts(msgs) && !held.hasRoomToCall(d.core.held):
		held.release()
		return errTooMuch()
	}
	return d.deliver(ctx, msgs, batch, held)
}

func (d *duplex) deliverLine(ctx context.Context, line []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = d.refuse(nil, d.core.reportPanic(ctx, p))
		}
	}()
	msgs, batch, fault := wire.Parse(line)
	if fault == nil {
		err := d.deliverHeld(ctx, msgs, batch, len(line))
		if !errors.As(err, &fault) {
			return err
		}
	}
	if batch {
		msgs = nil // the answer is for none of them
	}
	return d.refuse(faultID(msgs), fault)
}
