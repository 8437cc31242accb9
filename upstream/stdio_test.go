package upstream

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"testing"
)

// A caller that leaves while its message is being written does not end the
// process, which others use: the message is written to its end.
func TestSenderLeavesWhileWriting(t *testing.T) {
	r, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer stdin.Close()
	c := &stdio{peer: newPeer(slog.New(slog.DiscardHandler), nil, nil), proc: &process{stdin: stdin}, writing: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	long := bytes.Repeat([]byte("x"), 1<<20) // more than a pipe holds
	sent := make(chan error, 1)
	go func() { sent <- c.send(ctx, "", long) }()
	first := make([]byte, 1)
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-sent; err != context.Canceled {
		t.Errorf("the sender got %v", err)
	}
	go func() { sent <- c.send(t.Context(), "", []byte("next")) }()
	lines := bufio.NewReaderSize(r, 2<<20)
	if line, err := lines.ReadSlice('\n'); err != nil || len(line) != len(long) { // the first byte was read before
		t.Errorf("the message has %d bytes, %v", len(line), err)
	}
	if line, err := lines.ReadSlice('\n'); err != nil || string(line) != "next\n" {
		t.Errorf("the next message is %q, %v", line, err)
	}
	if err := <-sent; err != nil || c.ctx.Err() != nil {
		t.Errorf("the next sender got %v, and the connection %v", err, context.Cause(c.ctx))
	}
}
