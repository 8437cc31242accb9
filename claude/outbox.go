package claude

import (
	"sync"
	"time"
)

// An outbox writes lines to the CLI in their order, on a goroutine of its own:
// nobody waits for a CLI that does not read. It has no limit.
type outbox struct {
	process process
	done    chan struct{} // closed when nothing more will be written
	wake    chan struct{} // holds one if something has changed

	mu    sync.Mutex
	lines [][]byte
	shut  bool
}

func newOutbox(p process) *outbox {
	o := &outbox{process: p, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	go o.write()
	return o
}

// put has a line written. It is ErrClosed if it comes too late.
func (o *outbox) put(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return ErrClosed
	}
	o.lines = append(o.lines, line)
	o.ring()
	return nil
}

func (o *outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// write ends when all is written after shutting, or when the CLI has ended, which
// its reader sees.
func (o *outbox) write() {
	defer close(o.done)
	for range o.wake {
		o.mu.Lock()
		lines, shut := o.lines, o.shut
		o.lines = nil
		o.mu.Unlock()
		for _, line := range lines {
			if o.process.WriteLine(line) != nil {
				o.drop()
				return
			}
		}
		if shut {
			return
		}
	}
}

func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut, o.lines = true, nil
}

// flushTime is how long the CLI may take to read what was sent before its input
// is closed.
const flushTime = time.Second

// close takes no more lines, and waits a little until the others are written.
func (o *outbox) close() {
	o.mu.Lock()
	o.shut = true
	o.ring()
	o.mu.Unlock()
	timer := time.NewTimer(flushTime)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C:
	}
}
