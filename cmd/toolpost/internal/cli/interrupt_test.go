package cli

import (
	"context"
	"errors"
	"testing"
)

// TestInterruptible ends a read that never ends, and passes on what others return.
func TestInterruptible(t *testing.T) {
	reason := errors.New("reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	if got, err := Interruptible(ctx, func() (int, error) { return 7, reason }); got != 7 || err != reason {
		t.Errorf("got %d, %v", got, err)
	}
	cancel(reason)
	stuck := make(chan struct{})
	defer close(stuck)
	if err := Interruptibly(ctx, func() error { <-stuck; return nil }); err != reason {
		t.Errorf("got %v", err)
	}
}

// TestBeforeExit: what runs before a signal ends the process runs once, also if there is
// nothing.
func TestBeforeExit(t *testing.T) {
	h := &interruptHandler{}
	h.leave()
	ran := 0
	BeforeExit(context.WithValue(t.Context(), interruptKey{}, h), func() { ran++ })
	BeforeExit(t.Context(), func() { t.Error("no signal ends this context") })
	h.leave()
	if ran != 1 {
		t.Errorf("it ran %d times", ran)
	}
}
