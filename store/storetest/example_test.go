package storetest_test

import (
	"flag"
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
	fmt.Println(passes(testMemory))
	// Output: true
}

// passes runs a test outside of go test. With -v and -json, the names of the tests that it
// runs would be in the output of the example.
func passes(test func(t *testing.T)) bool {
	verbose := flag.Lookup("test.v").Value
	defer verbose.Set(verbose.String())
	verbose.Set("false")
	all := func(string, string) (bool, error) { return true, nil }
	return testing.RunTests(all, []testing.InternalTest{{Name: "Test", F: test}})
}
