package storetest_test

import (
	"fmt"
	"testing"

	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/store/storetest"
)

// The test of an engine is one call of Run.
func ExampleRun() {
	testMemory := func(t *testing.T) {
		storetest.Run(t, func(_ *testing.T, opts *store.Options) store.Store { return store.Memory(opts) })
	}
	all := func(string, string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{{Name: "TestMemory", F: testMemory}}))
	// Output: true
}
