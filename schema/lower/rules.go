package lower

// Rules say what a reader of schemas accepts. The zero value accepts JSON
// Schema 2020-12 whole.
type Rules struct {
	// Keywords are those that the reader takes; null is all. Structure that
	// other rules allow ($ref, $defs, anyOf, type, properties…) is named here too.
	Keywords []string `json:"keywords,omitempty"`

	// Without are keywords that the reader does not take, of those that
	// Keywords allows: "$schema" for readers that mind a declared draft.
	Without []string `json:"without,omitempty"`

	// Dialect is the shape of what differs between drafts: "" is 2020-12,
	// "draft-07" has items lists and definitions, "openapi" is the Schema of
	// Gemini: types in capitals, nullable, formats of its own.
	Dialect string `json:"dialect,omitempty"`

	Root   Root   `json:"root,omitzero"`
	Union  Union  `json:"union,omitzero"`
	Object Object `json:"object,omitzero"`
	Array  Array  `json:"array,omitzero"`
	Enum   Enum   `json:"enum,omitzero"`
	Ref    Ref    `json:"ref,omitzero"`

	// Null is how null beside another type is written: "" a list of types or an
	// alternative, "keyword" is nullable:true, "none" cannot be written.
	Null string `json:"null,omitempty"`

	// Untyped is how a value of any type is written: "" as {}, "json" as a
	// string that holds JSON text.
	Untyped string `json:"untyped,omitempty"`

	// TypeRequired asks for a type, anyOf or $ref in every schema: enum and
	// const alone are not enough.
	TypeRequired bool `json:"typeRequired,omitempty"`

	// Booleans allows the schemas true and false.
	Booleans bool `json:"booleans,omitempty"`

	// Formats are those taken, by type; null is all. Others are told in words.
	Formats map[string][]string `json:"formats,omitempty"`

	// Pattern is the regular expressions taken: "" all, "re2" no lookaround
	// and no backreference, "simple" also no \b and \B and no count above 100,
	// "anchored" as "simple", no classes such as \d, and it begins with ^ and
	// ends with $.
	Pattern string `json:"pattern,omitempty"`

	// MinItems is the largest minItems taken; null is any.
	MinItems *int `json:"minItems,omitempty"`

	// Silent keeps constraints that are not taken out of the descriptions.
	Silent bool `json:"silent,omitempty"`

	Limits Limits `json:"limits,omitzero"`
}

// Root is what the reader wants of the outermost schema.
type Root struct {
	// Object: type is "object", alone.
	Object bool `json:"object,omitempty"`

	// NoUnion: no anyOf, oneOf, allOf or not beside it. Alternatives are
	// merged if Flatten, else wrapped as the property "request".
	NoUnion bool `json:"noUnion,omitempty"`
	Flatten bool `json:"flatten,omitempty"`

	// Properties: the keyword is there, even if it is empty.
	Properties bool `json:"properties,omitempty"`

	// OmitEmpty: a tool without arguments has no schema.
	OmitEmpty bool `json:"omitEmpty,omitempty"`
}

// Union is how alternatives are written.
type Union struct {
	None     bool     `json:"none,omitempty"`     // not at all
	OneOf    bool     `json:"oneOf,omitempty"`    // oneOf is taken, not only anyOf
	NoList   bool     `json:"noList,omitempty"`   // type is never a list
	Siblings []string `json:"siblings,omitempty"` // keywords beside anyOf; null is all
	FirstKey bool     `json:"firstKey,omitempty"` // objects in anyOf begin with different properties
}

// Object is how objects are written.
type Object struct {
	Closed      bool   `json:"closed,omitempty"`      // additionalProperties is false, always
	AllRequired bool   `json:"allRequired,omitempty"` // optional properties take null instead of being left out
	Declared    bool   `json:"declared,omitempty"`    // what is required is a property
	Filled      bool   `json:"filled,omitempty"`      // there is at least one property
	Maps        string `json:"maps,omitempty"`        // members of any name: "" as additionalProperties, "pairs", "json"
	Name        string `json:"name,omitempty"`        // regular expression of property names; "" is any
	NameAll     bool   `json:"nameAll,omitempty"`     // also inside, not only of the root
	NameMax     int    `json:"nameMax,omitempty"`     // runes; 0 is any

	// Reserved are names that no property of the root has, since the reader
	// adds properties of these names itself.
	Reserved []string `json:"reserved,omitempty"`
}

// Array is how arrays are written.
type Array struct {
	Items  bool   `json:"items,omitempty"`  // items is required, an object
	Typed  bool   `json:"typed,omitempty"`  // and it has a type
	Tuples string `json:"tuples,omitempty"` // "" as prefixItems, "object" as properties item0, item1…
}

// Enum is which values an enum may have.
type Enum struct {
	Strings bool `json:"strings,omitempty"` // only strings
	Numbers bool `json:"numbers,omitempty"` // only strings and numbers
	Scalars bool `json:"scalars,omitempty"` // no arrays and objects
	NoEmpty bool `json:"noEmpty,omitempty"` // no empty string
	AnyCase bool `json:"anyCase,omitempty"` // the model may answer in other case
	NoConst bool `json:"noConst,omitempty"` // const is written as an enum
}

// Ref is how references are written.
type Ref struct {
	Inline    bool     `json:"inline,omitempty"`    // there are none
	Defs      bool     `json:"defs,omitempty"`      // they lead to #/$defs/name, nowhere else
	Siblings  []string `json:"siblings,omitempty"`  // keywords beside $ref; null is all
	Recursion string   `json:"recursion,omitempty"` // "" yes, "optional" not through a required property, "none"
}

// Limits bound one schema; 0 is no limit.
type Limits struct {
	Depth         int `json:"depth,omitempty"` // levels of objects and arrays
	Properties    int `json:"properties,omitempty"`
	EnumValues    int `json:"enumValues,omitempty"`
	LongEnum      int `json:"longEnum,omitempty"`      // an enum of more values than this …
	LongEnumRunes int `json:"longEnumRunes,omitempty"` // … has at most so many runes
	Runes         int `json:"runes,omitempty"`
}
