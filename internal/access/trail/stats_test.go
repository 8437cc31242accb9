package trail_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/access/trail"
)

// Percentiles are durations that calls took, of few calls too.
func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		durations []float64
		p50, p95  float64
	}{{[]float64{7}, 7, 7}, {[]float64{100, 1}, 1, 100}, {[]float64{3, 1, 2}, 2, 3}} {
		var calls []*trail.Record
		for _, d := range c.durations {
			calls = append(calls, &trail.Record{Tool: "t", Duration: d})
		}
		if s := trail.Summarize(calls, trail.ByTool)[0]; s.P50 != c.p50 || s.P95 != c.p95 {
			t.Errorf("%v: %v and %v, want %v and %v", c.durations, s.P50, s.P95, c.p50, c.p95)
		}
	}
}
