// Package dep gives tools what they need: a database, a client, a root directory, a clock.
//
//	var shop = dep.New("shop", dep.PerProcess, openShop)
//
//	program ─ Scope.Open(PerProcess) ─▶ context ─▶ calls, each in a scope PerCall
//	tool    ─ shop.Get(ctx) ─────────▶ opened once in its scope, closed with it
//	test    ─ shop.With(ctx, fake) ──▶ context in which Get returns the fake
package dep

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// A Lifetime is how long the value of a dependency lives.
type Lifetime int

// Lifetimes, from the shortest to the longest. Each call of a tool has a scope PerCall;
// [Scope.Open] opens the others.
const (
	PerCall Lifetime = iota
	PerRun
	PerProcess
)

// A Dep is something that tools need. It is opened at most once per scope, on first use. It
// is closed when the scope ends if it is an [io.Closer]. It is safe for concurrent use.
type Dep[T any] struct {
	name string
	life Lifetime
	open func(context.Context) (T, error)
}

// New returns a dependency that open creates on first use in a scope. Open
// may use other dependencies. Its ctx is that of the scope, not of the call.
func New[T any](name string, life Lifetime, open func(ctx context.Context) (T, error)) *Dep[T] {
	return &Dep[T]{name, life, open}
}

// Clock returns the current time. Tests override it.
var Clock = New("clock", PerProcess, func(context.Context) (func() time.Time, error) { return time.Now, nil })

// Logger is the logger for calls. Tests override it.
var Logger = New("logger", PerProcess, func(context.Context) (*slog.Logger, error) { return slog.Default(), nil })

// Get returns the value of d. It opens d in the nearest scope of its lifetime. If no scope
// of that lifetime is open, it uses the longest-lived of the shorter scopes.
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
	s := scopeFor(ctx, d.life)
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
// context to [Scope.Open] if dependencies that are opened there must use v.
func (d *Dep[T]) With(ctx context.Context, v T) context.Context {
	return context.WithValue(ctx, d, override[T]{v})
}
