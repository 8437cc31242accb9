package callers

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A deadline that passes while the machine sleeps is noticed soon after it.
func TestAfterDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asleep atomic.Int64 // what the timers missed
		now := func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) }
		var calls atomic.Int32
		f := func() { calls.Add(1) }
		check := func(what string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := calls.Load(); got != want {
				t.Errorf("%s: it was called %d times, want %d", what, got, want)
			}
		}
		start := time.Now()
		d := afterDeadline(start.Add(time.Hour), now, f)
		time.Sleep(time.Hour - time.Second)
		check("before the deadline", 0)
		time.Sleep(time.Second)
		check("at the deadline", 1)
		d.stop()

		d = afterDeadline(now().Add(8*time.Hour), now, f)
		time.Sleep(time.Minute)
		asleep.Store(int64(9 * time.Hour))
		time.Sleep(recheck)
		check("after a sleep", 2)
		d.stop()
		time.Sleep(24 * time.Hour)
		check("once it was called", 2)

		d = afterDeadline(now().Add(time.Minute), now, f)
		time.Sleep(40 * time.Second)
		d.stop()
		time.Sleep(time.Hour)
		check("once it is stopped", 2)

		afterDeadline(now().Add(-time.Minute), now, f)
		check("after the deadline", 3)
	})
}
