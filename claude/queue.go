package claude

import (
	"context"
	"io"
	"sync"
)

// A queue has no limit: who puts something in never waits for who takes it out.
// Its zero value is empty.
type queue[T any] struct {
	mu    sync.Mutex
	more  sync.Cond // something has changed
	items []T
	ended bool
}

// put adds an item, unless the queue has ended.
func (q *queue[T]) put(item T) (ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return false
	}
	q.items = append(q.items, item)
	q.more.Broadcast()
	return true
}

// end takes no more items. Those that are in the queue stay.
func (q *queue[T]) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Broadcast()
}

// drop takes no more items, and drops those that are in the queue.
func (q *queue[T]) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.items = true, nil
	q.more.Broadcast()
}

// next waits for an item. The error is io.EOF once the queue has ended and is
// empty, or the cause of ctx.
func (q *queue[T]) next(ctx context.Context) (item T, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.more.L == nil {
		q.more.L = &q.mu
	}
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.more.Broadcast()
	})()
	for len(q.items) == 0 && !q.ended && ctx.Err() == nil {
		q.more.Wait()
	}
	switch {
	case len(q.items) > 0:
		item, q.items[0] = q.items[0], item
		q.items = q.items[1:]
	case q.ended:
		err = io.EOF
	default:
		err = context.Cause(ctx)
	}
	return item, err
}
