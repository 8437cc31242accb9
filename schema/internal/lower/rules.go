package lower

// Rules describe which schemas a reader accepts. The zero value accepts all of
// JSON Schema 2020-12.
type Rules struct {
	// Keywords are the supported keywords; null means all. They include the
	// structure that other rules allow ($ref, $defs, anyOf, type, properties…).
	Keywords []string `json:"keywords,omitempty"`

	// Without are unsupported keywords, although Keywords allows them:
	// "$schema" for readers that refuse a declared draft.
	Without []string `json:"without,omitempty"`

	// Dialect selects the form of keywords that differ between drafts: "" is
	// 2020-12, "draft-07" has items as a list and definitions, "openapi" is the
	// Schema of Gemini: types in capitals, nullable, its own formats.
	Dialect string `json:"dialect,omitempty"`

	Root   Root   `json:"root,omitzero"`
	Union  Union  `json:"union,omitzero"`
	Object Object `json:"object,omitzero"`
	Array  Array  `json:"array,omitzero"`
	Enum   Enum   `json:"enum,omitzero"`
	Ref    Ref    `json:"ref,omitzero"`

	// Null determines how null beside another type is written: "" as a list of
	// types or an alternative, "keyword" as nullable:true, "none" not at all.
	Null string `json:"null,omitempty"`

	// Untyped determines how a value of any type is written: "" as {}, "json"
	// as a string that contains JSON.
	Untyped string `json:"untyped,omitempty"`

	// TypeRequired requires a type, anyOf or $ref in every schema: enum and
	// const alone are not enough.
	TypeRequired bool `json:"typeRequired,omitempty"`

	// Booleans allows the schemas true and false.
	Booleans bool `json:"booleans,omitempty"`

	// Formats are the supported formats by type; null means all. Others are
	// stated in descriptions.
	Formats map[string][]string `json:"formats,omitempty"`

	// Pattern selects the supported regular expressions: "" all, "re2" no
	// lookaround and no backreference, "simple" also no \b, \B and (?i) and no count
	// above 100, "unicode" those of ECMA 262 with the flag u, "anchored" as "simple", but no
	// classes such as \d, and only from ^ to $, "whole" as "simple" with any count, but
	// no \p and \P, and only from ^ to $.
	Pattern string `json:"pattern,omitempty"`

	// MinItems is the largest supported minItems; null means no limit.
	MinItems *int `json:"minItems,omitempty"`

	Limits Limits `json:"limits,omitzero"`
}

// Root is what the reader requires of the outermost schema.
type Root struct {
	// Object: type is "object" only.
	Object bool `json:"object,omitempty"`

	// NoUnion: no anyOf, oneOf, allOf or not. Alternatives are merged if
	// Flatten is set, otherwise wrapped in the property "request".
	NoUnion bool `json:"noUnion,omitempty"`
	Flatten bool `json:"flatten,omitempty"`

	// Properties: the keyword is present, even if it is empty.
	Properties bool `json:"properties,omitempty"`

	// OmitEmpty: a tool without arguments has no schema.
	OmitEmpty bool `json:"omitEmpty,omitempty"`
}

// Union determines how alternatives are written.
type Union struct {
	None     bool     `json:"none,omitempty"`     // not at all
	OneOf    bool     `json:"oneOf,omitempty"`    // oneOf is supported, not only anyOf
	NoList   bool     `json:"noList,omitempty"`   // type is never a list
	Siblings []string `json:"siblings,omitempty"` // keywords beside anyOf; null means all
	FirstKey bool     `json:"firstKey,omitempty"` // objects in anyOf begin with different properties
}

// Object determines how objects are written.
type Object struct {
	Closed      bool   `json:"closed,omitempty"`      // additionalProperties is false, always
	AllRequired bool   `json:"allRequired,omitempty"` // optional properties accept null instead of being left out
	Declared    bool   `json:"declared,omitempty"`    // every required name is a property
	Filled      bool   `json:"filled,omitempty"`      // there is at least one property
	Maps        string `json:"maps,omitempty"`        // members of any name: "" as additionalProperties, "pairs", "json"
	OpenMaps    bool   `json:"openMaps,omitempty"`    // an object without properties has additionalProperties if any members are accepted
	NoEmptyMaps bool   `json:"noEmptyMaps,omitempty"` // additionalProperties is true instead of an empty schema
	Name        string `json:"name,omitempty"`        // regular expression of property names; "" is any
	NameAll     bool   `json:"nameAll,omitempty"`     // for all objects, not only the root
	NameMax     int    `json:"nameMax,omitempty"`     // runes; 0 means no limit

	// Forbidden are names that no property may have where Name applies.
	Forbidden []string `json:"forbidden,omitempty"`

	// Reserved are names that no property of the root may have, because the
	// reader adds properties with these names itself.
	Reserved []string `json:"reserved,omitempty"`
}

// Array determines how arrays are written.
type Array struct {
	Items  bool   `json:"items,omitempty"`  // items is required and an object
	Typed  bool   `json:"typed,omitempty"`  // items also has a type
	Tuples string `json:"tuples,omitempty"` // "" as prefixItems, "object" as properties item0, item1…, "open" as arrays of anything
}

// Enum determines which values an enum may have.
type Enum struct {
	Strings bool `json:"strings,omitempty"` // only strings
	Numbers bool `json:"numbers,omitempty"` // only strings and numbers
	Scalars bool `json:"scalars,omitempty"` // no arrays and objects
	NoEmpty bool `json:"noEmpty,omitempty"` // no empty string
	Filled  bool `json:"filled,omitempty"`  // at least one value
	AnyCase bool `json:"anyCase,omitempty"` // the model may answer in another case
	NoConst bool `json:"noConst,omitempty"` // const is written as an enum
}

// Ref determines how references are written.
type Ref struct {
	Inline    bool     `json:"inline,omitempty"`    // there are no references
	Defs      bool     `json:"defs,omitempty"`      // only to #/$defs/name
	Siblings  []string `json:"siblings,omitempty"`  // keywords beside $ref; null means all
	Recursion string   `json:"recursion,omitempty"` // "" allowed, "optional" not through a required property, "none" not allowed
}

// Limits restrict one schema; 0 means no limit.
type Limits struct {
	Depth         int `json:"depth,omitempty"` // levels of objects and arrays
	Properties    int `json:"properties,omitempty"`
	EnumValues    int `json:"enumValues,omitempty"`
	LongEnum      int `json:"longEnum,omitempty"`      // an enum with more values than this …
	LongEnumRunes int `json:"longEnumRunes,omitempty"` // … has at most this many runes
	Runes         int `json:"runes,omitempty"`
	Bytes         int `json:"bytes,omitempty"` // of the whole schema
}
