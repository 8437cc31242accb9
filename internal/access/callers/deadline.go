package callers

import (
	"sync"
	"time"
)

// recheck is how long after its deadline a function is called at most, if the machine has
// slept: timers stand still meanwhile.
const recheck = 15 * time.Second

// A deadline calls a function when the clock on the wall passes a time.
type deadline struct {
	at  time.Time
	now func() time.Time
	f   func()

	mu    sync.Mutex
	timer *time.Timer // nil once it is stopped
}

// afterDeadline calls f in its own goroutine when now is at or after a time.
func afterDeadline(at time.Time, now func() time.Time, f func()) *deadline {
	d := &deadline{at: at.Round(0), now: now, f: f}
	d.mu.Lock() // the timer may fire at once
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(d.pause(), d.check)
	return d
}

func (d *deadline) pause() time.Duration { return min(d.at.Sub(d.now()), recheck) }

func (d *deadline) check() {
	d.mu.Lock()
	pause, stopped := d.pause(), d.timer == nil
	if !stopped && pause > 0 {
		d.timer.Reset(pause)
	}
	d.mu.Unlock()
	if !stopped && pause <= 0 {
		d.f()
	}
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
