package inflight_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/inflight"
)

func TestIdle(t *testing.T) {
	var c inflight.Counter
	isClosed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	if !isClosed(c.Idle()) {
		t.Error("a new counter is not idle")
	}
	c.Add(2)
	first, second := c.Idle(), c.Idle()
	c.Add(-1)
	if isClosed(first) || isClosed(second) {
		t.Error("idle with one call under way")
	}
	c.Add(-1)
	if !isClosed(first) || !isClosed(second) || !isClosed(c.Idle()) {
		t.Error("not idle after the last call")
	}
	c.Add(1)
	if isClosed(c.Idle()) {
		t.Error("idle when a call begins again")
	}
}
