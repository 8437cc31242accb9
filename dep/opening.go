package dep

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// An opening is the value of one dependency in a scope, being opened or open.
type opening struct {
	key   any      // the *Dep
	outer *opening // that this one is opened for, nil if for a call
	waits *opening // that this one waits for; under Scope.waiting
	done  chan struct{}
	value any
	err   error
}

// get returns the value of key, opened once by whoever comes first.
func (s *Scope) get(ctx context.Context, key any, open func(context.Context) (any, error)) (any, error) {
	own, _ := ctx.Value(openingKey{}).(*opening)
	s.mu.Lock()
	o, found := s.opened[key]
	if !found {
		o = &opening{key: key, outer: own, done: make(chan struct{})}
		if s.opened == nil {
			s.opened = map[any]*opening{}
		}
		s.opened[key] = o
	}
	s.mu.Unlock()
	if !found {
		s.open(o, open)
		return o.value, o.err
	}
	if !s.mayWait(own, o) {
		return nil, errors.New("it depends on itself")
	}
	defer s.endWait(own)
	select {
	case <-o.done:
		return o.value, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// mayWait notes that own waits for o, unless o waits for own: then neither
// would ever be done.
func (s *Scope) mayWait(own, o *opening) bool {
	if own == nil {
		return true
	}
	s.waiting.Lock()
	defer s.waiting.Unlock()
	for w := o; w != nil; w = w.waits {
		for p := own; p != nil; p = p.outer {
			if p == w {
				return false
			}
		}
	}
	for p := own; p != nil; p = p.outer {
		p.waits = o
	}
	return true
}

func (s *Scope) endWait(own *opening) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	for p := own; p != nil; p = p.outer {
		p.waits = nil
	}
}

// open runs open once. A failure is not kept: the next Get tries again.
func (s *Scope) open(o *opening, open func(context.Context) (any, error)) {
	defer close(o.done)
	defer func() {
		if p := recover(); p != nil {
			o.err = fmt.Errorf("panic while opening: %v", p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		c, closes := o.value.(io.Closer)
		switch {
		case o.err != nil:
			delete(s.opened, o.key)
		case closes && s.ended:
			o.err = errors.Join(errors.New("its scope has ended"), closeDep(c))
		case closes:
			s.closer = append(s.closer, c)
		}
	}()
	o.value, o.err = open(context.WithValue(s, openingKey{}, o))
}
