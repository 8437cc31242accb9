package main

import (
	"slices"
	"testing"
)

func TestEscaped(t *testing.T) {
	if got := escaped("github.com/BurntSushi/toml"); got != "github.com/!burnt!sushi/toml" {
		t.Errorf("got %s", got)
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("got %v", got)
	}
}

// TestLinkedModules checks that each module is counted once, with its size, and that
// those of tests and tools are not.
func TestLinkedModules(t *testing.T) {
	all, err := linkedModules()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]float64{}
	for _, m := range all {
		if _, twice := sizes[m.path]; twice || m.size <= 0 {
			t.Errorf("%s has %v MB, or is there twice", m.path, m.size)
		}
		sizes[m.path] = m.size
	}
	if !slices.IsSortedFunc(all, func(a, b linkedModule) int { return int(1e6 * (b.size - a.size)) }) {
		t.Error("the largest is not first")
	}
	for name, want := range map[string]bool{"github.com/spf13/cobra": true, "go.uber.org/goleak": false, "github.com/toolpost/toolpost": false} {
		if _, linked := sizes[name]; linked != want {
			t.Errorf("%s is linked: %v", name, linked)
		}
	}
}
