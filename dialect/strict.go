package dialect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/schema/lower"
)

// chooseStrict switches strict mode on where a schema says the same as its
// original. If these tools together are over a limit, those with the fewest
// optional properties and unions go first, so that most tools are strict; of
// equal ones the first on the list. The schema of a tool that is left out
// keeps its shape: it is valid without strict mode too, and decodes the same.
func (a *Adapted) chooseStrict() {
	if a.Dialect.Strict == nil {
		return
	}
	var able []*Tool
	for _, t := range a.Tools {
		if t.exact {
			able = append(able, t)
		}
	}
	slices.SortStableFunc(able, func(x, y *Tool) int {
		return cmp.Compare(x.counts.Optional+x.counts.Unions, y.counts.Optional+y.counts.Unions)
	})
	sum, tools := lower.Counts{}, 0
	for _, t := range able {
		with := add(sum, t.counts)
		if a.Dialect.Strict.holds(with, tools+1) {
			t.Strict, sum, tools = true, with, tools+1
		}
	}
	if left := len(able) - tools; left > 0 {
		a.Findings = append(a.Findings, Finding{
			Rule: a.Dialect.ID + "/strict-limits", Effect: Advice,
			Message: fmt.Sprintf("%d of %d tools that could be strict are not: a request has room for no more", left, len(able)),
		})
	}
}

func add(a, b lower.Counts) lower.Counts {
	return lower.Counts{
		Optional: a.Optional + b.Optional, Unions: a.Unions + b.Unions, Properties: a.Properties + b.Properties,
		EnumValues: a.EnumValues + b.EnumValues, Depth: max(a.Depth, b.Depth), Runes: a.Runes + b.Runes,
	}
}

// holds says that so much is within the limits of a request.
func (s *Strict) holds(c lower.Counts, tools int) bool {
	within := func(n, limit int) bool { return limit <= 0 || n <= limit }
	return within(tools, s.Tools) && within(c.Optional, s.Optional) && within(c.Unions, s.Unions) &&
		within(c.Properties, s.Properties) && within(c.EnumValues, s.EnumValues) && within(c.Runes, s.Runes)
}
