package redmine

import (
	"testing"

	"github.com/toolpost/toolpost/internal/bounds"
)

// TestBounded: nothing in the arguments of a tool can grow without limit.
func TestBounded(t *testing.T) {
	s, err := New(&Options{URL: "http://redmine.test", Anonymous: true}) // nothing is requested
	if err != nil {
		t.Fatal(err)
	}
	tools := 0
	for _, g := range groups {
		for _, e := range g.tools(s) {
			tools++
			found, err := bounds.Unbounded(e.checked.Raw())
			if err != nil || len(found) > 0 {
				t.Errorf("%s: %q (%v)", e.Name, found, err)
			}
		}
	}
	if tools < 80 {
		t.Errorf("there are only %d tools", tools)
	}
}
