package redmine_test

import (
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often. These tests make many small values, of which few
// live: collecting them was a quarter of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
