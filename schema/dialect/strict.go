package dialect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/schema/internal/lower"
)

// chooseStrict switches strict mode on where a tool says the same as its
// original. If these tools together are over a limit, those that take the
// smallest share of any limit go first, so that most tools are strict; of
// equal ones the first on the list. The schema of a tool that is left out
// keeps its shape: it is valid without strict mode too, and decodes the same.
func (a *Adapted) chooseStrict() {
	limits := a.Dialect.form.Strict
	if limits == nil {
		return
	}
	var able []*Tool
	for _, t := range a.Tools {
		if t.exact() {
			able = append(able, t)
		}
	}
	slices.SortStableFunc(able, func(x, y *Tool) int { return cmp.Compare(limits.share(x.counts), limits.share(y.counts)) })
	sum, tools := lower.Counts{}, 0
	for _, t := range able {
		with := add(sum, t.counts)
		if limits.holds(with, tools+1) {
			t.Strict, sum, tools = true, with, tools+1
		}
	}
	if left := len(able) - tools; left > 0 {
		a.Findings = append(a.Findings, Finding{
			Rule: a.Dialect.ID + "/strict-limits", Effect: advice,
			Message: fmt.Sprintf("%d of %d tools that could be strict are not, because of the limits on one request", left, len(able)),
		})
	}
}

func add(a, b lower.Counts) lower.Counts {
	return lower.Counts{
		Optional: a.Optional + b.Optional, Unions: a.Unions + b.Unions, Properties: a.Properties + b.Properties,
		EnumValues: a.EnumValues + b.EnumValues, Depth: max(a.Depth, b.Depth), Runes: a.Runes + b.Runes,
	}
}

// holds reports whether c and tools are within the limits of a request.
func (s *strictLimits) holds(c lower.Counts, tools int) bool {
	within := func(n, limit int) bool { return limit <= 0 || n <= limit }
	return within(tools, s.Tools) && within(c.Optional, s.Optional) && within(c.Unions, s.Unions) &&
		within(c.Properties, s.Properties) && within(c.EnumValues, s.EnumValues) && within(c.Runes, s.Runes)
}

// share returns the largest part of a limit that one tool takes.
func (s *strictLimits) share(c lower.Counts) float64 {
	largest := 0.0
	for _, l := range [][2]int{
		{1, s.Tools}, {c.Optional, s.Optional}, {c.Unions, s.Unions},
		{c.Properties, s.Properties}, {c.EnumValues, s.EnumValues}, {c.Runes, s.Runes},
	} {
		if l[1] > 0 {
			largest = max(largest, float64(l[0])/float64(l[1]))
		}
	}
	return largest
}
