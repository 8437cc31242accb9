// Package lower rewrites a JSON Schema for a reader that accepts less, tells
// what that costs, and turns values for the new schema back into values for
// the old one.
//
//	Schema ── Form ──▶ normal form ── Rules ──▶ Schema, Losses, Codec
//	                                             Decode: what was written for the new schema ──▶ the old shape
//	                                             Encode: the other way
package lower

import (
	"encoding/json"

	"github.com/toolpost/toolpost/schema"
)

// A Result is a schema lowered to what some Rules accept.
type Result struct {
	Schema json.RawMessage // nil if the reader wants none for a tool without arguments
	Losses []Loss          // in source order
	Codec  *Codec
	Counts Counts
}

// Counts are what readers limit over all the schemas of a request.
type Counts struct {
	Optional   int // properties that may be left out
	Unions     int // anyOf and lists of types
	Properties int
	EnumValues int
	Depth      int // levels of objects and arrays
	Runes      int // of names of properties and definitions, enum and const values
}

// A Kind says what happened to a keyword.
type Kind string

// The kinds of losses, from harmless to fatal.
const (
	Noop      Kind = "noop"      // nothing changed in meaning
	Encoded   Kind = "encoded"   // another shape of exactly the same values
	Checked   Kind = "checked"   // another shape; some values of it decode to none of the old, and the call reports them
	Described Kind = "described" // told in the description, enforced when the tool is called
	Widened   Kind = "widened"   // more values are accepted; enforced when the tool is called
	Narrowed  Kind = "narrowed"  // some values cannot be written any more
	Dropped   Kind = "dropped"   // not told any more; enforced when the tool is called
	Rejected  Kind = "rejected"  // cannot be told to this reader at all
)

// A Loss is what became of one keyword.
type Loss struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) of the schema object in the original
	Keyword string `json:"keyword"`
	Kind    Kind   `json:"kind"`
	Detail  string `json:"detail"`
}

// Exact says that no value was lost or gained.
func Exact(losses []Loss) bool {
	for _, l := range losses {
		if l.Kind != Noop && l.Kind != Encoded {
			return false
		}
	}
	return true
}

// Schema lowers s. It never fails: what cannot be told is reported as a Loss.
// The same schema and rules give the same bytes.
func Schema(s *schema.Schema, rules *Rules) *Result {
	src := readSource(s.Raw())
	doc := s.Form()
	levels := maxDepth
	if limit := rules.Limits.Depth; limit > 0 {
		levels = limit
	}
	for unroll := 2; ; unroll-- {
		r := newLowering(src, rules, max(unroll, 0), levels).document(doc)
		deep := rules.Limits.Depth > 0 && r.Counts.Depth > rules.Limits.Depth
		large := len(r.Schema) > maxSmall+maxGrowth*len(s.Raw())
		if !deep && !large || unroll <= -3 {
			return r
		}
		if deep { // references lead deeper than they stand
			levels--
		}
	}
}

// document writes a whole schema.
func (l *lowering) document(doc *schema.Document) *Result {
	for _, c := range doc.Changes {
		kind := Noop
		switch {
		case c.Lost:
			kind = Dropped
		case c.Keyword == "nullable": // not JSON Schema: by the letter, null does not fit
			kind = Widened
		}
		l.lose(kind, c.At, c.Keyword, "%s", c.Detail)
	}
	n, c := l.root(doc.Root)
	l.definitions(n)
	if trivial(c, map[*reference]bool{}) {
		c = nil
	}
	r := &Result{Codec: &Codec{root: c}, Counts: l.count(n)}
	l.check(r.Counts)
	if !(l.rules.Root.OmitEmpty && l.isEmpty(n)) {
		r.Schema = n.append(nil)
	}
	l.account(r.Schema)
	r.Losses = l.losses
	return r
}

// isEmpty says that n describes a tool without arguments.
func (l *lowering) isEmpty(n *node) bool {
	p := n.get("properties")
	return p == nil || len(p.table) == 0
}

// check reports a schema that is too large for the reader as a whole.
func (l *lowering) check(c Counts) {
	limits := l.rules.Limits
	for _, over := range []struct {
		what         string
		count, limit int
	}{
		{"properties", c.Properties, limits.Properties},
		{"enum values", c.EnumValues, limits.EnumValues},
		{"characters in names and values", c.Runes, limits.Runes},
	} {
		if over.limit > 0 && over.count > over.limit {
			l.lose(Rejected, "", l.source.keyword(""), "%d %s, the limit is %d", over.count, over.what, over.limit)
		}
	}
}
