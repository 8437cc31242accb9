// Package lower rewrites a JSON Schema for a reader: a client or model that
// supports less of it. It reports what is lost, and converts values for the new
// schema back into values for the old one.
//
//	Schema ── form.Read ──▶ normal form ── Rules ──▶ Schema, Losses, Codec
//	                                             Decode: a value for the new schema ──▶ the old shape
//	                                             Encode: the other direction
//
// [Rules] are what a dialect says about schemas, as JSON; package dialect has those of the
// known clients and models. Each step that changes a schema reports a [Loss], whose [Kind]
// says how much of the meaning is left.
package lower

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// A Result is a schema that was lowered for some Rules.
type Result struct {
	Schema json.RawMessage // nil if the reader wants none for a tool without arguments
	Losses []Loss          // in source order
	Codec  *Codec
}

// Schema lowers s. It never fails: what cannot be expressed is reported as a
// Loss. The same schema and rules give the same bytes.
func Schema(s *schema.Schema, rules *Rules) *Result {
	src, r := readSource(s.Raw()), newReader(rules)
	doc := form.Read(s.Raw())
	limits := bounds{levels: maxDepth, nodes: maxNodes, unroll: 2}
	if most := rules.Limits.Depth; most > 0 {
		limits.levels = most
	}
	most := maxSmall + maxGrowth*len(s.Raw())
	if limit := rules.Limits.Bytes; limit > 0 {
		most = min(most, limit)
	}
	for try := 1; ; try++ {
		l := newLowering(r, src, limits)
		result := l.document(doc)
		var counts Counts
		if rules.Limits != (Limits{}) {
			counts = CountsOf(result.Schema)
		}
		size := len(result.Schema)
		deep := rules.Limits.Depth > 0 && counts.Depth > rules.Limits.Depth
		if !deep && size <= most || try == maxTries {
			l.limit(counts)
			l.account(result.Schema)
			result.Losses = l.losses
			return result
		}
		if deep { // references lead deeper than they stand
			limits.levels--
		}
		switch {
		case limits.unroll > 0 && l.inside:
			limits.unroll--
		case size > most:
			limits.nodes = min(limits.nodes, l.written) * most / size * 3 / 4
		}
	}
}

// PlainObject reports whether a schema takes objects only and describes them without
// alternatives, and whether any value is possible at all.
func PlainObject(s *schema.Schema) (plain, possible bool) {
	root := form.Read(s.Raw()).Root
	return root.Kinds == jsontree.KindObject && root.Alts == nil, root.Kinds != 0
}
