package keylock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestLock: one has the lock of a name, the next waits or gives up, and another name
// is free. Nothing is left afterwards.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks Locks
		first, err := locks.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := locks.Lock(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() {
			_, err := locks.Lock(ctx, "a")
			failed <- err
		}()
		got := false
		go func() {
			unlock, err := locks.Lock(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			got = true
			unlock()
		}()
		synctest.Wait()
		if got {
			t.Error("two have the same lock")
		}
		why := errors.New("enough")
		cancel(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("who gave up has %v", err)
		}
		first()
		other()
		synctest.Wait()
		if n := locks.Len(); !got || n != 0 {
			t.Errorf("the next has the lock: %v; %d names are locked", got, n)
		}
	})
}
