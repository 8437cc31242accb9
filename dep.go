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

// A Scope defines how long the value of a dependency lives.
type Scope int

// Scopes, from the shortest to the longest. [Set.Call] opens PerCall;
// [OpenScope] opens the others.
const (
	PerCall Scope = iota
	PerRun
	PerProcess
)

// A Dep is something that a tool needs: a client, a root directory, a clock. It
// is opened at most once per scope, on first use. It is closed when the scope
// ends if it is an [io.Closer].
type Dep[T any] struct {
	name  string
	scope Scope
	open  func(context.Context) (T, error)
}

// NewDep returns a dependency that open creates on first use in a scope. Open
// may use other dependencies. Its ctx is that of the scope, not of the call.
func NewDep[T any](name string, s Scope, open func(ctx context.Context) (T, error)) *Dep[T] {
	return &Dep[T]{name, s, open}
}

// Clock returns the current time. Tests override it.
var Clock = NewDep("clock", PerProcess, func(context.Context) (func() time.Time, error) { return time.Now, nil })

// Logger is the logger for calls. Tests override it.
var Logger = NewDep("logger", PerProcess, func(context.Context) (*slog.Logger, error) { return slog.Default(), nil })

// Get returns the value of d. It opens d in the nearest scope of the
// dependency's own kind. If no such scope is open, it uses the longest-lived of
// the shorter scopes.
func (d *Dep[T]) Get(ctx context.Context) (T, error) {
	if v, ok := ctx.Value(d).(override[T]); ok {
		return v.value, nil
	}
	v, err := d.get(ctx)
	if err != nil {
		var zero T
		return zero, fmt.Errorf("dependency %s: %w", d.name, err)
	}
	return v, nil
}

func (d *Dep[T]) get(ctx context.Context) (v T, err error) {
	s := scopeFor(ctx, d.scope)
	if s == nil {
		return d.open(ctx)
	}
	opened, err := s.get(ctx, d, func(ctx context.Context) (any, error) { return d.open(ctx) })
	if err == nil {
		v, _ = opened.(T) // a nil interface stays one
	}
	return v, err
}

type override[T any] struct{ value T }

// With returns a context in which Get returns v in every scope. Pass that
// context to [OpenScope] if dependencies that are opened there must use v.
func (d *Dep[T]) With(ctx context.Context, v T) context.Context {
	return context.WithValue(ctx, d, override[T]{v})
}

// OpenScope opens a scope. End closes the dependencies that were opened in it,
// last first, and returns their errors.
func OpenScope(ctx context.Context, s Scope) (inner context.Context, end func() error) {
	sc := newScope(ctx, s)
	return sc, sc.end
}

type (
	scopeKey   struct{}
	callKey    struct{}
	openingKey struct{}
)

// A scope holds the opened dependencies of one call, run or process. It is
// itself the context in which they are opened: they live as long as it, not
// as the call that asked first.
type scope struct {
	context.Context
	kind    Scope
	outer   *scope
	call    *Call          // of a call's scope
	valid   validArguments // what was validated for the call
	waiting *sync.Mutex    // over all openings' waits; that of the outermost of nested scopes

	outermost sync.Mutex // waiting points to it if no scope is around this one

	mu     sync.Mutex // never held while a dependency opens
	opened map[any]*opening
	closer []io.Closer
	ended  bool
}

func newScope(ctx context.Context, kind Scope) *scope {
	s := &scope{Context: ctx, kind: kind}
	if s.outer, _ = ctx.Value(scopeKey{}).(*scope); s.outer != nil {
		s.waiting = s.outer.waiting
	} else {
		s.waiting = &s.outermost
	}
	return s
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
	nearest, _ := ctx.Value(scopeKey{}).(*scope)
	var shorter *scope
	for s := nearest; s != nil; s = s.outer {
		if s.kind == kind {
			return s
		}
		if s.kind < kind && (shorter == nil || s.kind > shorter.kind) {
			shorter = s
		}
	}
	if shorter != nil {
		return shorter
	}
	return nearest // it lives longer than it needs to
}

func (s *scope) end() error {
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
