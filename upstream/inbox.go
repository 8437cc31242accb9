package upstream

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An inbox is the reading side of a connection that is fed by several streams.
type inbox struct {
	in     chan jsonrpc.Message
	ctx    context.Context // of the connection; its cause is why it ended
	cancel context.CancelCauseFunc
}

func newInbox() inbox {
	ctx, cancel := context.WithCancelCause(context.Background())
	return inbox{make(chan jsonrpc.Message), ctx, cancel}
}

// Read returns the next message; why the connection ended once it did.
func (b *inbox) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-b.in:
		return m, nil
	case <-b.ctx.Done():
		return nil, context.Cause(b.ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *inbox) push(m jsonrpc.Message) {
	select {
	case b.in <- m:
	case <-b.ctx.Done():
	}
}

// fail ends the connection. The first reason counts.
func (b *inbox) fail(err error) { b.cancel(err) }

// failure returns why the connection ended, nil if it did not or we ended it.
func (b *inbox) failure() error {
	if err := context.Cause(b.ctx); err != io.EOF {
		return err
	}
	return nil
}

// bind returns a context that ends with ctx or with the connection.
func (b *inbox) bind(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(b.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// sleep says whether the time passed before ctx or the connection ended.
func (b *inbox) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-b.ctx.Done():
	}
	return false
}
