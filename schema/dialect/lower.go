package dialect

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// A Loss describes what happened to one keyword of a schema.
type Loss struct {
	Pointer string   `json:"pointer"` // JSON pointer (RFC 6901) of the schema object in the original
	Keyword string   `json:"keyword"`
	Kind    LossKind `json:"kind"`
	Detail  string   `json:"detail"`
}

// A LossKind classifies a Loss. From harmless to fatal:
//
//	noop       the meaning did not change
//	encoded    another shape of exactly the same values
//	checked    another shape; some of its values do not decode to a value of the old shape, and the call reports them
//	described  stated in the description, enforced when the tool is called
//	widened    more values are accepted; enforced when the tool is called
//	narrowed   some values can no longer be written
//	dropped    no longer stated, enforced when the tool is called
//	rejected   cannot be expressed for this reader at all
type LossKind string

// Rank orders the kinds from harmless, which is 0, to fatal.
func (k LossKind) Rank() int { return lower.Kind(k).Rank() }

// Exact reports whether no value was lost or gained: values mean the same in both shapes.
func (k LossKind) Exact() bool { return lower.Kind(k).Exact() }

func appendLosses(all []Loss, losses []lower.Loss) []Loss {
	all = slices.Grow(all, len(losses))
	for _, l := range losses {
		all = append(all, Loss{l.Pointer, l.Keyword, LossKind(l.Kind), l.Detail})
	}
	return all
}

// A Lowered is a schema in the form for one reader, and how its values are converted. It is
// safe for concurrent use.
type Lowered struct {
	Schema json.RawMessage // nil if the reader wants none for an object without properties
	Losses []Loss          // in source order

	codec  *lower.Codec
	strict *strictLimits
}

// Lower rewrites a schema by the rules for input schemas, such as that of a structured
// answer. It never fails: what cannot be expressed is reported as a Loss. The same schema
// gives the same bytes.
func (d *Dialect) Lower(s *schema.Schema) *Lowered { return d.lower(s, d.form.Input) }

// LowerValue is Lower for a value that need not be an object.
func (d *Dialect) LowerValue(s *schema.Schema) *Lowered {
	rules := d.form.Input
	rules.Root.Object = false
	return d.lower(s, rules)
}

// LowerMember is Lower for a reader that takes plain objects only: those without
// alternatives. Any other schema is rewritten as that of a member of an object, which the
// caller adds: no rule for the root holds, and references lead to #/$defs of that object. A
// schema that no value matches is rejected.
func (d *Dialect) LowerMember(s *schema.Schema) (l *Lowered, isMember bool) {
	plain, possible := lower.PlainObject(s)
	if plain {
		return d.Lower(s), false
	}
	rules := d.form.Input
	rules.Root, rules.Object.Name, rules.Ref.Defs = lower.Root{}, "", true
	l = d.lower(s, rules)
	if !possible {
		l.Losses = append(l.Losses, Loss{Kind: rejected, Detail: "no value matches the schema"})
	}
	return l, true
}

func (d *Dialect) lower(s *schema.Schema, rules lower.Rules) *Lowered {
	low := lower.Schema(s, &rules)
	return &Lowered{Schema: low.Schema, Losses: appendLosses(nil, low.Losses), codec: low.Codec, strict: d.form.Strict}
}

// Rejected returns why the reader cannot be given the schema, nil if it can.
func (l *Lowered) Rejected() *Loss {
	for i := range l.Losses {
		if l.Losses[i].Kind == rejected {
			return &l.Losses[i]
		}
	}
	return nil
}

// FitsStrict reports whether the schema alone is within the limits of the reader's strict
// mode.
func (l *Lowered) FitsStrict() bool {
	return l.strict != nil && l.strict.holds(lower.CountsOf(l.Schema), 1)
}

// Identity reports whether values have the same shape in both schemas.
func (l *Lowered) Identity() bool { return l.codec.Identity() }

// Decode converts a value that was written for the new schema to the old shape. Parts that it
// cannot interpret pass unchanged, so that validation reports them. Notes describe what had to
// be repaired, up to a megabyte of them.
func (l *Lowered) Decode(value json.RawMessage) (old json.RawMessage, notes []string) {
	return l.codec.Decode(value)
}

// Encode converts a value of the old schema to the new shape; ok is false if it cannot be
// written there.
func (l *Lowered) Encode(value json.RawMessage) (written json.RawMessage, ok bool) {
	return l.codec.Encode(value)
}

// Pointer converts a JSON pointer into a value of the old schema to the corresponding pointer
// into one of the new schema.
func (l *Lowered) Pointer(p string) string { return l.codec.Seen(p) }

// StrictInput returns the schema of a tool's input in a form that strict readers accept, and
// what was lost: s itself if they accept it, otherwise one whose values match s. It returns
// nil if there is none.
func StrictInput(s *schema.Schema) (*schema.Schema, []Loss) {
	strict, losses := lower.StrictInput(s)
	return strict, appendLosses(nil, losses)
}

// StrictOutput returns the schema of a tool's output in a form that strict readers accept, and
// what was lost: s itself if they accept it, otherwise one that every value of s matches. It
// returns nil if there is none. With anonymous it has no ids either, for a list in which
// another schema has one of them.
func StrictOutput(s *schema.Schema, anonymous bool) (*schema.Schema, []Loss) {
	rewrite := lower.StrictOutput
	if anonymous {
		rewrite = lower.AnonymousOutput
	}
	strict, losses := rewrite(s)
	return strict, appendLosses(nil, losses)
}

// CheckStrict checks the limits of the reader's strict mode for the input schemas of all
// strict tools of a request.
func (d *Dialect) CheckStrict(schemas []json.RawMessage) error {
	var sum lower.Counts
	for _, s := range schemas {
		sum = add(sum, lower.CountsOf(s))
	}
	if limit := d.form.Strict; limit != nil && !limit.holds(sum, len(schemas)) {
		return fmt.Errorf("the strict tools are %d with %d optional properties and %d unions; the limits are %d, %d and %d",
			len(schemas), sum.Optional, sum.Unions, limit.Tools, limit.Optional, limit.Unions)
	}
	return nil
}

// The kinds that this package writes.
const (
	noop     = LossKind(lower.Noop)
	encoded  = LossKind(lower.Encoded)
	dropped  = LossKind(lower.Dropped)
	rejected = LossKind(lower.Rejected)
)
