// Package form brings a JSON Schema into a normal form: what can be said with
// several keywords is said in one way. Alternatives may still overlap, and keywords
// that the form cannot express stay unchanged.
//
//	bytes ── Read ──▶ Document ── package lower ──▶ a schema for another reader
package form

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// A Form is one schema in normal form: it describes the accepted values once
// and in one way, whatever keywords the schema used. Forms refer to each other
// only through [Def]. Forms do not change after they were read.
//
// A value matches if its kind is in jsontree.Kinds, it satisfies the rules for that
// kind, it is one of Enum if Enum covers its kind, and it matches Alts, Ref and
// Rest.
type Form struct {
	At    string         `json:"-"` // JSON pointer of the schema that it was read from
	Kinds jsontree.Kinds // 0 if no value matches, as for the schema false

	// The rules on values of one kind; nil if there are none.
	Number *Number
	Text   *Text
	Array  *Array
	Object *Object

	Enum *Enum

	Alts *Union // nil if there are no alternatives
	Ref  *Def   // a shared schema that must match as well; nil if there is none

	Notes Notes     `json:"-"`
	Rest  []Keyword // keywords that the form cannot express: not, if, contains, patternProperties…, in source order
}

// A Keyword is a member of a schema object, as written.
type Keyword struct {
	At    string `json:"-"` // JSON pointer of the schema object that contains it
	Name  string
	Value json.RawMessage
}

// Notes are the annotations of a schema.
type Notes struct {
	Title, Description string
	Default            json.RawMessage // nil if there is none
	Examples           []json.RawMessage
	Others             []Keyword // deprecated, readOnly, x-…, in source order
}

// A Def is a schema that other schemas refer to.
type Def struct {
	Name      string // unique in its document: the last token of its pointer, with a number if necessary
	Form      *Form
	Recursive bool // its Form refers back to it
	Uses      int  // the number of references to it
}

// A Union contains alternatives for values that are not null. There are two or
// more, or a single one that is a reference or has a Rest, with null as the
// other choice. Their kinds overlap: alternatives of different kinds are merged
// into one Form, unless one of them is a reference, or has a Rest that may
// apply to all kinds. The Form with the Union lists the possible kinds,
// including null, but has no other rules for them.
type Union struct {
	Forms []*Form
	One   bool   // exactly one must match, although they may overlap
	Tag   string // the property whose value is different and fixed in each alternative; "" if there is none
}

// An Enum lists all allowed values of some kinds.
type Enum struct {
	Values []json.RawMessage
	Kinds  jsontree.Kinds // the kinds that it covers; values of other kinds are not restricted
}

// A Number limits numbers; "" means no limit. Numbers are kept as the
// schema wrote them.
type Number struct {
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf json.Number
	Format                                                           string
}

// A Text limits strings, in code points.
type Text struct {
	MinLength, MaxLength int // a negative MaxLength means no limit
	Pattern, Format      string
	Content              []Keyword // contentEncoding, contentMediaType, contentSchema
}

// An Array limits arrays.
type Array struct {
	Prefix             []*Form // by position
	Items              *Form   // for all other items; nil if they may be anything
	MinItems, MaxItems int     // a negative MaxItems means no limit
	Unique             bool
}

// An Object limits objects.
type Object struct {
	Properties                   []Property // in source order, followed by names that are only required
	Additional                   *Form      // for all other members; nil if the schema does not define them
	MinProperties, MaxProperties int        // a negative MaxProperties means no limit
}

// A Property is a member that an Object names.
type Property struct {
	Name     string
	Form     *Form
	Required bool
	Bare     bool // only required declares the name; its Form is that of the other members
}

// A Document is a whole schema in normal form.
type Document struct {
	Root    *Form
	Defs    []*Def   // the schemas that forms refer to, in source order
	Changes []Change // what was left out or reinterpreted while reading
}

// A Change describes what happened to a keyword while the schema was read.
type Change = subschema.Change

// Any reports whether the form matches every value and says nothing about it.
func (f *Form) Any() bool {
	return f.Kinds == jsontree.KindAny && f.Number == nil && f.Text == nil && f.Array == nil && f.Object == nil &&
		f.Enum == nil && f.Alts == nil && f.Ref == nil && len(f.Rest) == 0
}
