package percentile_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/percentile"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		sorted   []int
		p50, p95 int
	}{{nil, 0, 0}, {[]int{7}, 7, 7}, {[]int{1, 100}, 1, 100}, {[]int{1, 2, 3}, 2, 3}} {
		if p50, p95 := percentile.Of(c.sorted, 50), percentile.Of(c.sorted, 95); p50 != c.p50 || p95 != c.p95 {
			t.Errorf("%v: %d and %d", c.sorted, p50, p95)
		}
	}
}
