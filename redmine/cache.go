package redmine

import (
	"net/http"
	"sync"
)

// A cache keeps answers with their ETag (RFC 9110, 8.8.3): Redmine tells in a few
// bytes that they are still right.
type cache struct {
	mu     sync.Mutex
	cached map[string]*cached
	order  []string // oldest first
}

type cached struct {
	tag  string
	body []byte
}

const (
	mostCached    = 100
	longestCached = 256 << 10 // bytes
)

func (c *cache) get(method, address string) *cached {
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
		c.cached = map[string]*cached{}
	}
	if c.cached[address] == nil {
		c.order = append(c.order, address)
	}
	c.cached[address] = &cached{tag, body}
	if len(c.order) > mostCached {
		delete(c.cached, c.order[0])
		c.order = c.order[1:]
	}
}
