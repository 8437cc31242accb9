package schema_test

import (
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often. These tests make many small values, of which few
// live.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
