package claude

import (
	"cmp"
	"context"
	"io"
	"sync"

	"github.com/toolpost/toolpost/claude/message"
)

// An inbox keeps messages until they are read. It has no limit: a reader that
// asks the CLI something between two messages must not keep the answer back.
type inbox struct {
	items  queue[item]
	mirror *mirror // gets the lines of transcripts, nil if the reader does

	mu      sync.Mutex
	why     error // what the messages end with, nil as long as it is not known
	stopped error // why this process stopped the CLI, nil if it did not
	told    bool  // the end was read
}

type item struct {
	m   message.Message
	err error
}

func (b *inbox) put(m message.Message, err error) {
	if b.mirror != nil {
		switch m := m.(type) {
		case *message.TranscriptMirror:
			b.mirror.add(m)
			return
		case *message.Result: // who reads it may look into the store
			b.mirror.flush()
		}
	}
	b.items.put(item{m, err})
}

// because decides what the messages will end with. The first cause stays.
func (b *inbox) because(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.why = cmp.Or(b.why, err)
}

// cause is what the messages end with, nil as long as it is not known.
func (b *inbox) cause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// stop records why this process stops the CLI. The first cause stays.
func (b *inbox) stop(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = cmp.Or(b.stopped, cause)
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
	if b.mirror != nil {
		b.mirror.close()
	}
	b.items.end()
}

// next waits for a message. After the last it returns why it was the last, once,
// and io.EOF from then on.
func (b *inbox) next(ctx context.Context) (message.Message, error) {
	i, err := b.items.next(ctx)
	if err == nil {
		return i.m, i.err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == io.EOF && !b.told {
		b.told, err = true, b.why
	}
	return nil, err
}
