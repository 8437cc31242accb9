package claude

import "sync"

// A queue has no limit: who puts something in never waits for who takes it out.
type queue[T any] struct {
	mu     sync.Mutex
	more   sync.Cond
	items  []T
	closed bool
}

func newQueue[T any]() *queue[T] {
	q := &queue[T]{}
	q.more.L = &q.mu
	return q
}

func (q *queue[T]) put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, item)
	q.more.Signal()
}

// next waits for an item. It is false once the queue is closed.
func (q *queue[T]) next() (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.more.Wait()
	}
	if q.closed {
		return item, false
	}
	item, q.items = q.items[0], q.items[1:]
	return item, true
}

// close drops what is in the queue.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.items = true, nil
	q.more.Broadcast()
}
