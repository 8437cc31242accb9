package redmine

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// fresh is how long a memory is trusted. A name that is not in it is looked for again at
// once.
const fresh = 5 * time.Minute

// A memory keeps what is read and changes rarely.
type memory[T any] struct {
	mu    sync.Mutex
	known map[string]memoryEntry[T]
}

type memoryEntry[T any] struct {
	value T
	read  time.Time
}

// maxRemembered bounds a memory: it starts anew when it is full.
const maxRemembered = 1000

// get returns what is known under a key, or reads it, also if it must again.
func (m *memory[T]) get(key string, again bool, read func() (T, error)) (T, error) {
	m.mu.Lock()
	known, ok := m.known[key]
	m.mu.Unlock()
	if ok && !again && time.Since(known.read) < fresh {
		return known.value, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxRemembered {
		m.known = map[string]memoryEntry[T]{}
	}
	m.known[key] = memoryEntry[T]{value, time.Now()}
	return value, nil
}

// drop forgets one value. It reports whether there was one.
func (m *memory[T]) drop(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.known[key]
	delete(m.known, key)
	return ok
}

// forget drops what is known under the keys that end with suffix.
func (m *memory[T]) forget(suffix string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.known, func(key string, _ memoryEntry[T]) bool { return strings.HasSuffix(key, suffix) })
}

// callReads are what one call of a tool has read since its last change: it does not
// read the same twice. What is read ahead at once is found here.
type callReads struct {
	mu    sync.Mutex
	reads map[string]*oneRead
}

type oneRead struct {
	done chan struct{}
	data []byte
	err  error
}

type callReadsKey struct{}

// withCache returns a context in which reads are kept.
func withCache(ctx context.Context) context.Context {
	return context.WithValue(ctx, callReadsKey{}, &callReads{reads: map[string]*oneRead{}})
}

// withoutCache returns a context in which everything is read from Redmine.
func withoutCache(ctx context.Context) context.Context {
	return context.WithValue(ctx, callReadsKey{}, (*callReads)(nil))
}

func readsOf(ctx context.Context) *callReads {
	reads, _ := ctx.Value(callReadsKey{}).(*callReads)
	return reads
}

// get returns what was read at an address, or reads it. Failures and long answers
// are not kept.
func (c *callReads) get(ctx context.Context, address string, read func() ([]byte, error)) ([]byte, error) {
	if c == nil {
		return read()
	}
	c.mu.Lock()
	one := c.reads[address]
	if one != nil {
		c.mu.Unlock()
		select {
		case <-one.done:
			return one.data, one.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	one = &oneRead{done: make(chan struct{})}
	c.reads[address] = one
	c.mu.Unlock()
	one.data, one.err = read()
	c.mu.Lock()
	if (one.err != nil || len(one.data) > longestCached) && c.reads[address] == one {
		delete(c.reads, address)
	}
	c.mu.Unlock()
	close(one.done)
	return one.data, one.err
}

// forget drops everything, as a change may have changed it.
func (c *callReads) forget() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		clear(c.reads)
	}
}

// A cache keeps answers with their ETag (RFC 9110, 8.8.3): Redmine answers in a few
// bytes that they are still right.
type cache struct {
	mu     sync.Mutex
	cached map[string]*cachedResponse
	order  []string // oldest first
}

type cachedResponse struct {
	tag  string
	body []byte
}

const (
	maxCached     = 100
	longestCached = 256 << 10 // bytes
)

func (c *cache) get(method, address string) *cachedResponse {
	if method != http.MethodGet {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cached[address]
}

func (c *cache) put(method, address, tag string, body []byte) {
	if method != http.MethodGet || tag == "" || len(body) > longestCached {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cached == nil {
		c.cached = map[string]*cachedResponse{}
	}
	if c.cached[address] == nil {
		c.order = append(c.order, address)
	}
	c.cached[address] = &cachedResponse{tag, body}
	if len(c.order) > maxCached {
		delete(c.cached, c.order[0])
		c.order = c.order[1:]
	}
}
