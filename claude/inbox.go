package claude

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/message"
)

// maxUnread is the number of bytes of messages that may wait to be read.
const maxUnread = 256 << 20

var errUnread = fmt.Errorf("the CLI has written more than %d MiB of messages that were not read; read them sooner, or check what it does", maxUnread>>20)

// An inbox keeps messages until they are read. Nobody waits for room in it: a reader
// that asks the CLI something between two messages must not keep the answer back.
type inbox struct {
	unread  atomic.Int64 // bytes of items
	items   queue[item]
	mirror  *mirror // gets the lines of transcripts, nil if the reader does
	why     cause   // what the messages end with
	stopped cause   // why this process stopped the CLI, if it did

	mu   sync.Mutex
	told bool // the end was read
}

type item struct {
	m    message.Message
	err  error
	size int
}

// put adds what the CLI wrote in so many bytes. It reports whether there is room.
func (b *inbox) put(m message.Message, err error, size int) bool {
	if _, ended := m.(*message.Result); ended && b.mirror != nil { // who reads it may look into the store
		b.mirror.flush()
	}
	if b.unread.Add(int64(size)) > maxUnread {
		b.unread.Add(-int64(size))
		return false
	}
	b.items.put(item{m, err, size})
	return true
}

// keep gives the lines of a transcript to the mirror. It reports whether there is one.
func (b *inbox) keep(line any) bool {
	m, ok := line.(*control.Mirror)
	if !ok || b.mirror == nil {
		return false
	}
	b.mirror.add(m)
	return true
}

// A cause keeps the first error that it is set to.
type cause struct {
	mu  sync.Mutex
	err error
}

// set reports whether err is the first error.
func (c *cause) set(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.err == nil
	c.err = cmp.Or(c.err, err)
	return first
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
		b.unread.Add(-int64(i.size))
		return i.m, i.err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == io.EOF && !b.told {
		b.told, err = true, b.why.get()
	}
	return nil, err
}
