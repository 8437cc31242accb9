package mcpserver

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A batch that is cut short is complete without what did not come through.
func TestUndeliveredIsForgotten(t *testing.T) {
	written := make(chan string, 9)
	c := newConn(func(data []byte) error {
		written <- string(data)
		return nil
	})
	msgs, _, fault := parse([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`))
	if fault != nil {
		t.Fatal(fault)
	}
	ctx, cancel := context.WithCancel(t.Context())
	delivered := make(chan error, 1)
	go func() { delivered <- c.deliver(ctx, msgs, true) }()
	if _, err := c.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-delivered; !errors.Is(err, errClosed) {
		t.Fatal(err)
	}
	one, err := jsonrpc.MakeID(1.0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), &jsonrpc.Response{ID: one, Result: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if got := <-written; got != `[{"jsonrpc":"2.0","id":1,"result":{}}]` {
		t.Errorf("got %s", got)
	}
	c.finish()
	<-c.idle
}
