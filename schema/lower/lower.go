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
	return &Result{Schema: s.Raw(), Codec: &Codec{}}
}

// A Codec turns values of the two shapes into each other.
type Codec struct{}

// Identity says that both shapes are the same.
func (c *Codec) Identity() bool { return true }

// Decode returns what was written for the new schema in the old shape. What
// it does not understand passes unchanged, to be found by validation. Notes
// tell what had to be repaired.
func (c *Codec) Decode(value json.RawMessage) (old json.RawMessage, notes []string) {
	return value, nil
}

// Encode returns a value of the old schema in the new shape; ok is false if
// it cannot be written there.
func (c *Codec) Encode(value json.RawMessage) (seen json.RawMessage, ok bool) { return value, true }

// Seen returns where the reader of the new schema knows the place that a JSON
// pointer names in a value of the old shape.
func (c *Codec) Seen(pointer string) string { return pointer }
