package accept_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
)

// corpus returns the input schemas of all corpora.
func corpus() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, r := range accept.Schemas() {
		all["schema "+r.Name] = r.Schema
	}
	for _, s := range append(accept.Tools(), accept.Torture()...) {
		if s.Input() != nil {
			all[s.Server+" "+s.Name()] = s.Input()
		}
	}
	return all
}

// TestSamples draws from every schema. What does not compile or has no value
// is counted, so that a sampler that gives up does not pass.
func TestSamples(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	drawn, missed, uncompiled := 0, 0, 0
	all := corpus()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		compiled, err := accept.Compile(all[name])
		if err != nil {
			uncompiled++
			t.Logf("%s: %v", name, err)
			continue
		}
		s, err := accept.NewSampler(all[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		const n = 10
		own := 0
		for range n {
			v, ok := s.Sample(rng)
			if !ok {
				continue
			}
			own++
			if failing, err := compiled.Failing(v); err != nil || failing != nil {
				t.Fatalf("%s: %s: %v %v", name, v, failing, err)
			}
		}
		drawn, missed = drawn+own, missed+n-own
		if own < n/2 {
			t.Logf("%s: %d of %d", name, own, n)
		}
	}
	t.Logf("%d drawn, %d missed, %d schemas do not compile", drawn, missed, uncompiled)
	if missed*20 > drawn || drawn < 4_500 {
		t.Errorf("%d drawn, %d missed", drawn, missed)
	}
}
