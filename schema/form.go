package schema

import "encoding/json"

// A Form is one schema in normal form: what a value may be, told once and in
// one way, whatever keywords the schema used to say it. Forms share and refer
// to each other through [Def] only. Forms are not changed once they are read.
//
// A value fits if its kind is in Kinds, the rules for that kind hold, it is
// one of Enum where Enum is about its kind, and it fits Alts, Ref and Rest.
type Form struct {
	At    string // JSON pointer of the schema that it was read from
	Kinds Kinds  // 0 if nothing fits, as for the schema false

	Number *NumberForm // nil if there are no rules; likewise the next three
	Text   *TextForm
	Array  *ArrayForm
	Object *ObjectForm
	Enum   *EnumForm

	Alts *Union // nil if there are no alternatives
	Ref  *Def   // a shared schema that must fit as well; nil if there is none

	Notes Notes
	Rest  []Keyword // what the form cannot say: not, if, contains, patternProperties…, in source order
}

// A Keyword is a member of a schema object, as it was written.
type Keyword struct {
	At    string // JSON pointer of the schema object that has it
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

// A Def is a schema that others refer to.
type Def struct {
	Name      string // unique in its document: the last token of its pointer, or that with a number
	Form      *Form
	Recursive bool // its Form leads back to it
	Uses      int  // references that lead to it
}

// A Union holds alternatives for values that are not null. There are two or
// more, or one beside null that is a reference or has a Rest. Their kinds
// overlap: alternatives that differ in kind are merged into one Form, unless
// one of them is a reference, or has a Rest that may be about all kinds.
// The Form with the Union says which kinds are left, and whether null fits,
// but has no rules of its own for them.
type Union struct {
	Forms []*Form
	One   bool   // exactly one must fit, and they may overlap
	Tag   string // the property that tells the alternatives apart by a single value in each; "" if there is none
}

// An EnumForm lists the only values of some kinds.
type EnumForm struct {
	Values []json.RawMessage
	Kinds  Kinds // the kinds that it is about; values of others are free of it
}

// A NumberForm bounds numbers; "" is no bound. Numbers are as the schema wrote them.
type NumberForm struct {
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf json.Number
	Format                                                           string
}

// A TextForm bounds strings, in code points.
type TextForm struct {
	MinLength, MaxLength int // MaxLength is below 0 for none
	Pattern, Format      string
	Content              []Keyword // contentEncoding, contentMediaType, contentSchema
}

// An ArrayForm bounds arrays.
type ArrayForm struct {
	Prefix             []*Form // by position
	Items              *Form   // the others, nil for anything
	MinItems, MaxItems int     // MaxItems is below 0 for none
	Unique             bool
}

// An ObjectForm bounds objects.
type ObjectForm struct {
	Properties                   []Property // in source order, then names that are only required
	Additional                   *Form      // the other members, nil if the schema does not say
	MinProperties, MaxProperties int        // MaxProperties is below 0 for none
}

// A Property is a member that an ObjectForm names.
type Property struct {
	Name     string
	Form     *Form
	Required bool
	Bare     bool // named by required only; its Form is that of the other members
}

// A Document is a whole schema in normal form.
type Document struct {
	Root    *Form
	Defs    []*Def   // those that forms refer to, in source order
	Changes []Change // what reading left out, or took for something else
}

// A Change is what reading a schema did to a keyword.
type Change struct {
	At, Keyword string
	Lost        bool // it restricted values and is forgotten; else nothing changed in meaning
	Detail      string
}

// Any says that every value fits, and nothing is known of it.
func (f *Form) Any() bool {
	return f.Kinds == KindAny && f.Number == nil && f.Text == nil && f.Array == nil && f.Object == nil &&
		f.Enum == nil && f.Alts == nil && f.Ref == nil && len(f.Rest) == 0
}
