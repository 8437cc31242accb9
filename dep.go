package toolpost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// A Scope is how long the value of a dependency lives.
type Scope int

// Scopes, from the shortest to the longest. [Set.Call] opens PerCall;
// [OpenScope] opens the others.
const (
	PerCall Scope = iota
	PerRun
	PerProcess
)

// A Dep is something a tool needs: a client, a root directory, a clock. It is
// opened at most once per scope, on first use, and closed at the scope's end
// if it is an [io.Closer].
type Dep[T any] struct {
	name  string
	scope Scope
	open  func(context.Context) (T, error)
}

// NewDep makes a dependency that open creates on first use in a scope. Open
// may use other dependencies; ctx is the scope's, not the call's.
func NewDep[T any](name string, s Scope, open func(ctx context.Context) (T, error)) *Dep[T] {
	return &Dep[T]{name, s, open}
}

// Clock tells the time. Tests override it.
var Clock = NewDep("clock", PerProcess, func(context.Context) (func() time.Time, error) { return time.Now, nil })

// Logger is where calls are logged. Tests override it.
var Logger = NewDep("logger", PerProcess, func(context.Context) (*slog.Logger, error) { return slog.Default(), nil })

// Get returns the value of d. It is opened in the longest open scope that is
// not longer than the dependency's own.
func (d *Dep[T]) Get(ctx context.Context) (T, error) {
	if v, ok := ctx.Value(d).(T); ok {
		return v, nil
	}
	v, err := d.get(ctx)
	if err != nil {
		var zero T
		return zero, fmt.Errorf("dependency %s: %w", d.name, err)
	}
	return v, nil
}

func (d *Dep[T]) get(ctx context.Context) (T, error) {
	var zero T
	s := scopeFor(ctx, d.scope)
	if s == nil {
		return d.open(ctx)
	}
	chain, _ := ctx.Value(chainKey{}).([]any)
	if slices.Contains(chain, any(d)) {
		return zero, errors.New("it needs itself")
	}
	v, err := s.get(ctx, d, func() (any, error) {
		return d.open(context.WithValue(s, chainKey{}, append(slices.Clip(chain), d)))
	})
	if err != nil {
		return zero, err
	}
	return v.(T), nil
}

// With returns a context in which Get gives v, whatever the scope. Give it to
// [OpenScope] to reach dependencies that are opened there.
func (d *Dep[T]) With(ctx context.Context, v T) context.Context {
	return context.WithValue(ctx, d, v)
}

// OpenScope begins a scope. End closes what was opened in it, last first, and
// returns their errors.
func OpenScope(ctx context.Context, s Scope) (inner context.Context, end func() error) {
	sc := newScope(ctx, s)
	return sc, sc.end
}

type (
	scopeKey struct{}
	callKey  struct{}
	chainKey struct{}
)

// A scope holds the opened dependencies of one call, run or process. It is
// itself the context in which they are opened: they live as long as it, not
// as the call that asked first.
type scope struct {
	context.Context
	kind   Scope
	outer  *scope
	call   *Call      // of a call's scope
	mu     sync.Mutex // never held while a dependency opens
	opened map[any]*opening
	closer []io.Closer
	ended  bool
}

// An opening is one value, being opened or open.
type opening struct {
	done  chan struct{}
	value any
	err   error
}

func newScope(ctx context.Context, kind Scope) *scope {
	outer, _ := ctx.Value(scopeKey{}).(*scope)
	return &scope{Context: ctx, kind: kind, outer: outer}
}

// Value finds the scope and its call.
func (s *scope) Value(key any) any {
	switch key.(type) {
	case scopeKey:
		return s
	case callKey:
		if s.call != nil {
			return s.call
		}
	}
	return s.Context.Value(key)
}

func scopeFor(ctx context.Context, kind Scope) *scope {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	best := s
	for ; s != nil; s = s.outer {
		if s.kind <= kind {
			best = s
		}
	}
	return best
}

func (s *scope) get(ctx context.Context, key any, open func() (any, error)) (any, error) {
	s.mu.Lock()
	o, found := s.opened[key]
	if !found {
		o = &opening{done: make(chan struct{})}
		if s.opened == nil {
			s.opened = map[any]*opening{}
		}
		s.opened[key] = o
	}
	s.mu.Unlock()
	if !found {
		s.open(key, o, open)
		return o.value, o.err
	}
	select {
	case <-o.done:
		return o.value, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// open runs open once. A failure is not kept: the next Get tries again.
func (s *scope) open(key any, o *opening, open func() (any, error)) {
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
			delete(s.opened, key)
		case closes && s.ended:
			o.err = errors.Join(errors.New("its scope has ended"), c.Close())
		case closes:
			s.closer = append(s.closer, c)
		}
	}()
	o.value, o.err = open()
}

func (s *scope) end() error {
	s.mu.Lock()
	closers := s.closer
	s.closer, s.opened, s.ended = nil, nil, true
	s.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(closers) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
