//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// A load is what one subject did in one round of a cell.
type load struct {
	Calls    int           `json:"calls"`
	Rate     float64       `json:"callsPerSecond"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
	CPU      time.Duration `json:"cpuPerCall"` // of the gateway's process
	Peak     float64       `json:"peakMiB"`    // resident
	Before   float64       `json:"beforeMiB"`  // resident before the round
	After    float64       `json:"afterMiB"`   // and right after it
	Failures int           `json:"failures"`
	Error    string        `json:"error,omitempty"` // of the first failure
}

// maxFailures of one client end its round, as does one that takes too long.
const maxFailures = 20

// measure makes calls from the cell's clients until a time has passed, at least
// one from each.
func (r *running) measure(c cell, limit time.Duration, calls int) (*load, error) {
	w := newWant(c.size.bytes, r.limits && c.size.bytes > outputLimit)
	clients, err := r.dialAll(c, w)
	defer func() {
		for _, client := range clients {
			client.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := r.process.resetPeak(); err != nil {
		return nil, err
	}
	before, err := r.process.usage()
	if err != nil {
		return nil, err
	}
	l := &load{}
	began := time.Now()
	times := l.callAll(clients, w, began.Add(limit), calls)
	took := time.Since(began)
	after, err := r.process.usage()
	if err != nil {
		return nil, err
	}
	l.Calls, l.Before, l.After, l.Peak = len(times), before.resident, after.resident, after.peak
	if l.Calls == 0 {
		return nil, fmt.Errorf("no call succeeded: %s", l.Error)
	}
	l.CPU = (after.cpu - before.cpu) / time.Duration(l.Calls)
	l.Rate = float64(l.Calls) / took.Seconds()
	slices.Sort(times)
	l.P50, l.P99 = times[len(times)/2], times[len(times)*99/100]
	return l, nil
}

// A caller is a client that calls the tool.
type caller interface {
	callTool(w *want, a *answer) error
	close()
}

// dialAll connects the clients. The first answer is compared in full, and each
// client has made a call before the time runs.
func (r *running) dialAll(c cell, w *want) ([]caller, error) {
	callers := make([]caller, 0, c.clients)
	for i := range c.clients {
		one, err := r.dial(c.size.bytes, i)
		if err != nil {
			return callers, err
		}
		callers = append(callers, one)
		a := &answer{whole: i == 0}
		if err := one.callTool(w, a); err != nil {
			return callers, err
		}
		if i == 0 && !r.sdk {
			if err := w.checkWhole(a); err != nil {
				return callers, err
			}
		}
	}
	return callers, nil
}

// idsOfClient are as many as no client needs: each has ids of its own, so that an
// answer to another client is found.
const idsOfClient = 10_000_000

func (r *running) dial(size, index int) (caller, error) {
	if r.sdk {
		return dialSDK(r.endpoint, size)
	}
	c, err := dial(r.endpoint, "")
	if err != nil {
		return nil, err
	}
	c.nextID += index * idsOfClient
	c.prepare(size)
	return c, nil
}

// callAll makes the calls and returns how long each took.
func (l *load) callAll(clients []caller, w *want, deadline time.Time, calls int) []time.Duration {
	var (
		mu    sync.Mutex
		all   []time.Duration
		group sync.WaitGroup
	)
	for _, c := range clients {
		group.Go(func() {
			a := &answer{}
			var times []time.Duration
			var failures int
			var first error
			for i := 0; i == 0 || time.Now().Before(deadline) && (calls == 0 || i < calls); i++ {
				began := time.Now()
				err := c.callTool(w, a)
				if err == nil {
					times = append(times, time.Since(began))
					continue
				}
				if failures++; first == nil {
					first = err
				}
				var timeout net.Error
				if failures >= maxFailures || errors.As(err, &timeout) && timeout.Timeout() {
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, times...)
			l.Failures += failures
			if first != nil && l.Error == "" {
				l.Error = first.Error()
			}
		})
	}
	group.Wait()
	return all
}
