package main

import "context"

// interruptible returns what read returns, or the reason why ctx is done if that
// comes first. A terminal, a pipe or a network drive may never answer, and a
// signal must end the command nevertheless.
func interruptible[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := read()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// interruptibly is like interruptible, for work that has no result.
func interruptibly(ctx context.Context, work func() error) error {
	_, err := interruptible(ctx, func() (struct{}, error) { return struct{}{}, work() })
	return err
}
