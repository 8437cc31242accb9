package upstream

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// A pipe without deadlines is one of Windows.
type pipeWithoutDeadlines struct{ *io.PipeWriter }

func (pipeWithoutDeadlines) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

// Where writing has no deadlines, a process that reads nothing holds no caller, and is
// ended in time.
func TestSendWithoutDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stdin := io.Pipe()
		defer r.Close()
		c := &stdio{peer: newPeer(slog.New(slog.DiscardHandler), nil, nil), proc: &process{stdin: pipeWithoutDeadlines{stdin}, cmd: new(exec.Cmd), exited: make(chan struct{})}, writing: make(chan struct{}, 1), done: make(chan struct{})}
		close(c.done)
		close(c.proc.exited)
		c.proc.closing.Do(func() {}) // there is no process
		read := make(chan string)
		go func() {
			line, _ := bufio.NewReader(r).ReadString('\n')
			read <- line
		}()
		if err := c.send(t.Context(), "", []byte("first")); err != nil {
			t.Error(err)
		}
		if got := <-read; got != "first\n" {
			t.Errorf("%q was written", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.send(ctx, "", []byte("second")); err != context.DeadlineExceeded {
			t.Errorf("the sender got %v", err)
		}
		time.Sleep(answerTimeout - time.Millisecond)
		synctest.Wait()
		if c.ctx.Err() != nil {
			t.Error("the process was ended too early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if context.Cause(c.ctx) != errUnread {
			t.Errorf("the connection ended with %v", context.Cause(c.ctx))
		}
	})
}

// The advice about a command that is not found shows it as it is written, also where it
// is looked for in the folder of the server.
func TestAdviceOnCommandInFolder(t *testing.T) {
	for command, want := range map[string]string{
		"bin/python3 server.py": `make it "bin/python3", and put ["server.py"] into its args`,
		"./no-such-command":     `exec: "./no-such-command"`,
	} {
		_, err := lookPath(&Config{Command: command, Dir: t.TempDir()}, nil)
		if got := advice(err); !strings.Contains(got, want) {
			t.Errorf("%s: %s", command, got)
		}
	}
}
