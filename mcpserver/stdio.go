package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	c := newConn(func(line []byte) error {
		_, err := out.Write(append(line, '\n'))
		return err
	})
	session, err := s.engine.Connect(ctx, c, nil)
	if err != nil {
		return fmt.Errorf("serve stdio: %w", err)
	}
	s.core.sessions.begin(nil, session)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = session.Wait() // the reader's error tells more
	}()
	read := make(chan error, 1)
	go func() {
		read <- readLines(ctx, in, c)
		c.finish()
	}()
	select {
	case err = <-read:
		s.drain(ctx, c, over)
	case <-ctx.Done():
	case <-over:
	}
	_ = c.Close() // never fails
	select {
	case <-over:
	case <-time.After(closeTime):
	}
	if err != nil && !errors.Is(err, errClosed) {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

// drain waits until the calls are answered whose client has said its last word.
func (s *Server) drain(ctx context.Context, c *conn, over <-chan struct{}) {
	select {
	case <-c.idle:
		return
	default:
		s.core.ready.awaitList(ctx, listTools, identity{session: sessionName(c.id)})
	}
	select {
	case <-c.idle:
	case <-ctx.Done():
	case <-over:
	case <-time.After(drainTime):
	}
}

// readLines delivers the messages of in, one a line. A bad line is answered
// with an error, and the session goes on.
func readLines(ctx context.Context, in io.Reader, c *conn) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			fault := rpcError(jsonrpc.CodeInvalidRequest, "the line is longer than %d bytes", maxLine)
			if err := c.emit(ctx, failure(nil, fault)); err != nil {
				return err
			}
			continue
		case err == io.EOF && len(line) == 0:
			return nil
		case err != nil && err != io.EOF:
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := deliverLine(ctx, line, c); err != nil {
			return err
		}
	}
}

func deliverLine(ctx context.Context, line []byte, c *conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.emit(ctx, failure(nil, rpcError(jsonrpc.CodeInternalError, "internal error: %v", p)))
		}
	}()
	msgs, batch, fault := parse(line)
	if fault == nil {
		err := c.deliver(ctx, msgs, batch)
		if !errors.As(err, &fault) {
			return err
		}
	}
	if batch {
		msgs = nil // the answer is for none of them
	}
	return c.emit(ctx, failure(faultID(msgs, fault), fault))
}

// faultID returns the id that the answer to a bad message has.
func faultID(msgs []message, fault *jsonrpc.Error) []byte {
	if len(msgs) != 1 || fault.Code == jsonrpc.CodeParseError {
		return nil
	}
	return msgs[0].id
}

// readLine returns the next line without its end. The rest of a line that is
// too long is skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			for err == bufio.ErrBufferFull {
				_, err = r.ReadSlice('\n')
			}
			return nil, errors.Join(bufio.ErrTooLong, err)
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}
