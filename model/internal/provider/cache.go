package provider

import (
	"runtime"
	"sync"
	"weak"
)

// A Cache keeps what is made of a value, such as the adapted tools of a set, for
// as long as the value exists.
type Cache[K, V any] struct {
	mu   sync.Mutex
	made map[weak.Pointer[K]]V
}

// Get returns what make returned for key. That value must not hold key.
func (c *Cache[K, V]) Get(key *K, make func() (V, error)) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := weak.Make(key)
	if v, ok := c.made[at]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if c.made == nil {
		c.made = map[weak.Pointer[K]]V{}
	}
	c.made[at] = v
	runtime.AddCleanup(key, c.forget, at)
	return v, nil
}

func (c *Cache[K, V]) forget(at weak.Pointer[K]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.made, at)
}
