package dep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

type (
	scopeKey   struct{}
	openingKey struct{}
	parent     = context.Context // the context that a scope was opened in
)

// A Scope holds the dependencies that were opened in one call, run or process. It is
// itself the context in which they are opened: they live as long as it, not
// as the call that asked first. It is safe for concurrent use; it must not be copied.
type Scope struct {
	parent
	life    Lifetime
	outer   *Scope
	waiting *sync.Mutex // over all openings' waits; that of the outermost of nested scopes

	outermost sync.Mutex // waiting points to it if no scope is around this one

	mu     sync.Mutex // never held while a dependency opens
	opened map[any]*opening
	closer []io.Closer
	ended  bool
}

// Open opens a scope, a zero Scope, in ctx, and returns it:
//
//	scope := new(dep.Scope).Open(ctx, dep.PerRun)
//	defer scope.Close()
func (s *Scope) Open(ctx context.Context, life Lifetime) *Scope {
	s.parent, s.life = ctx, life
	if s.outer, _ = ctx.Value(scopeKey{}).(*Scope); s.outer != nil {
		s.waiting = s.outer.waiting
	} else {
		s.waiting = &s.outermost
	}
	return s
}

// Value returns the value of a key, see [context.Context].
func (s *Scope) Value(key any) any {
	if _, ok := key.(scopeKey); ok {
		return s
	}
	return s.parent.Value(key)
}

func scopeFor(ctx context.Context, life Lifetime) *Scope {
	nearest, _ := ctx.Value(scopeKey{}).(*Scope)
	var shorter *Scope
	for s := nearest; s != nil; s = s.outer {
		if s.life == life {
			return s
		}
		if s.life < life && (shorter == nil || s.life > shorter.life) {
			shorter = s
		}
	}
	if shorter != nil {
		return shorter
	}
	return nearest // it lives longer than it needs to
}

// Close ends the scope. It closes the dependencies that were opened in it, last first, and
// returns their errors.
func (s *Scope) Close() error {
	s.mu.Lock()
	closers := s.closer
	s.closer, s.opened, s.ended = nil, nil, true
	s.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(closers) {
		errs = append(errs, closeDep(c))
	}
	return errors.Join(errs...)
}

func closeDep(c io.Closer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while closing: %v", p)
		}
	}()
	return c.Close()
}
