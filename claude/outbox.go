package claude

import (
	"context"
	"time"
)

// An outbox writes lines to the CLI in their order, on a goroutine of its own:
// nobody waits for a CLI that does not read.
type outbox struct {
	lines queue[[]byte]
	done  chan struct{} // closed when nothing more will be written
}

func newOutbox(p Transport) *outbox {
	o := &outbox{done: make(chan struct{})}
	go o.write(p)
	return o
}

// put has a line written. It is ErrClosed if it comes too late.
func (o *outbox) put(line []byte) error {
	if !o.lines.put(line) {
		return ErrClosed
	}
	return nil
}

// write ends when all is written after closing, or when the CLI has ended, which
// its reader sees.
func (o *outbox) write(p Transport) {
	defer close(o.done)
	for {
		line, err := o.lines.next(context.Background())
		if err != nil {
			return
		}
		if p.WriteLine(line) != nil {
			o.lines.drop()
			return
		}
	}
}

// flushTime is how long the CLI may take to read what was sent before its input
// is closed.
const flushTime = time.Second

// close takes no more lines, and waits a little until the others are written.
func (o *outbox) close() {
	o.lines.end()
	timer := time.NewTimer(flushTime)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C:
	}
}
