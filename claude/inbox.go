package claude

import (
	"context"
	"io"
	"sync"

	"github.com/toolpost/toolpost/claude/message"
)

// An inbox keeps messages until they are read. It has no limit: a reader that
// asks the CLI something between two messages must not keep the answer back.
type inbox struct {
	mu      sync.Mutex
	items   []item
	wake    chan struct{} // closed when something comes; nil if nobody waits
	why     error         // what the messages end with, nil as long as it is not known
	stopped error         // why this process stopped the CLI, nil if it did not
	ended   bool
	told    bool // the end was read
}

type item struct {
	m   message.Message
	err error
}

func (b *inbox) put(m message.Message, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, item{m, err})
	b.ring()
}

// because decides what the messages will end with. The first cause stays.
func (b *inbox) because(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why == nil {
		b.why = err
	}
}

// stop records why this process stops the CLI. The first cause stays.
func (b *inbox) stop(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped == nil {
		b.stopped = cause
	}
}

// stopCause returns why this process stopped the CLI, nil if it did not.
func (b *inbox) stopCause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// end says that no more messages come.
func (b *inbox) end(err error) {
	b.because(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.ring()
}

func (b *inbox) ring() {
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
}

// cause is what the messages end with, nil as long as it is not known.
func (b *inbox) cause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// next waits for a message. After the last it returns why it was the last, once,
// and io.EOF from then on.
func (b *inbox) next(ctx context.Context) (message.Message, error) {
	for {
		m, wake, err := b.take()
		if wake == nil {
			return m, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take removes the first item, or returns what to wait for.
func (b *inbox) take() (m message.Message, wait <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) > 0 {
		first := b.items[0]
		b.items[0] = item{}
		b.items = b.items[1:]
		return first.m, nil, first.err
	}
	if b.ended && b.told {
		return nil, nil, io.EOF
	}
	if b.ended {
		b.told = true
		return nil, nil, b.why
	}
	if b.wake == nil {
		b.wake = make(chan struct{})
	}
	return nil, b.wake, nil
}
