package tooltest_test

import (
	"testing"

	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/tooltest"
)

// The test of an engine is one call.
func ExampleStore() {
	_ = func(t *testing.T) { // TestEngine
		tooltest.Store(t, func(_ *testing.T, opts *store.Options) store.Store { return store.Memory(opts) })
	}
}
