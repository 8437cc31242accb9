package trail

import (
	"cmp"
	"slices"
	"sort"
)

// A Key returns what a call is counted under.
type Key func(*Record) string

// The keys of [Summarize].
var (
	ByServer Key = func(r *Record) string { return r.Upstream }
	ByTool   Key = func(r *Record) string { return cmp.Or(r.Tool, r.Method) }
	ByClient Key = func(r *Record) string { return r.Principal.Client }
)

// Stats are the counts of the calls with one key.
type Stats struct {
	Name     string  `json:"name"`
	Calls    int     `json:"calls"`
	Errors   int     `json:"errors"`
	P50      float64 `json:"p50_ms"` // the median of the duration; 0 if no call has ended
	P95      float64 `json:"p95_ms"`
	BytesOut int64   `json:"bytes_out"`
}

// Summarize counts calls, the most frequent key first.
func Summarize(calls []*Record, by Key) []Stats {
	found, durations := map[string]*Stats{}, map[string][]float64{}
	for _, r := range calls {
		name := by(r)
		s := found[name]
		if s == nil {
			s = &Stats{Name: name}
			found[name] = s
		}
		s.Calls++
		s.BytesOut += r.BytesOut
		if !r.Succeeded() {
			s.Errors++
		}
		if r.Phase != PhaseStart {
			durations[name] = append(durations[name], r.Duration)
		}
	}
	all := []Stats{}
	for name, s := range found {
		slices.Sort(durations[name])
		s.P50, s.P95 = percentile(durations[name], 50), percentile(durations[name], 95)
		all = append(all, *s)
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[j].Calls-all[i].Calls, cmp.Compare(all[i].Name, all[j].Name)) < 0
	})
	return all
}

// percentile returns the smallest of the sorted values that p percent of them do not
// exceed, zero if there are none.
func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
