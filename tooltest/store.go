package tooltest

import (
	"testing"

	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/tooltest/internal/storetest"
)

// Store tests an engine of [store.Store]: whether the stores that open returns keep the
// contract. Open returns an empty store with the limits. It is called within a bubble of
// testing/synctest where time is tested: the store must take it from [time.Now] and may
// not need goroutines that outlive the test. The engine may count up to 1,000 bytes more
// than its content for each blob.
func Store(t *testing.T, open func(t *testing.T, opts *store.Options) store.Store) {
	storetest.Run(t, open)
}
