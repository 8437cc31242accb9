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
	items   queue[item]
	mirror  *mirror // gets the lines of transcripts, nil if the reader does
	why     cause   // what the messages end with
	stopped cause   // why this process stopped the CLI, if it did

	mu   sync.Mutex
	told bool // the end was read
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

// A cause keeps the first error that it is set to.
type cause struct {
	mu  sync.Mutex
	err error
}

func (c *cause) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = cmp.Or(c.err, err)
}

func (c *cause) get() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// end says that no more messages come.
func (b *inbox) end(err error) {
	b.why.set(err)
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
		b.told, err = true, b.why.get()
	}
	return nil, err
}
