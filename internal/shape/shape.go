// Package shape describes JSON Schema's keywords: what their values look like,
// and which schemas they hold. By it schemas are read, repaired, lowered and
// linted.
package shape

// A Shape is what the value of a keyword must look like.
type Shape uint8

// The shapes.
const (
	Any          Shape = iota + 1 // any value
	Schema                        // a schema
	Schemas                       // a list of schemas, not empty
	Table                         // an object of schemas
	Items                         // a schema, or a list of them up to draft 2019-09
	Dependencies                  // an object of schemas or name lists
	Count                         // an integer, not negative
	Number                        // a number
	Positive                      // a number above 0
	Bool                          // true or false
	Text                          // a string
	URI                           // a URI reference
	Names                         // a list of names, without duplicates
	NameLists                     // an object of name lists
	Type                          // the name of a type, or a list of them
	List                          // a list of values
)

// annotation marks the keywords that say nothing about validity.
const annotation Shape = 1 << 7

// keywords has all keywords of draft 4 to 2020-12 that say something about
// validity, and those that a strict reader refuses in a wrong shape.
var keywords = map[string]Shape{
	"$anchor": Text, "$dynamicAnchor": Text, "$recursiveAnchor": Bool,
	"$id": URI, "$ref": URI, "$dynamicRef": URI, "$recursiveRef": URI, "$schema": URI,
	"$defs": Table, "definitions": Table,
	"type": Type, "enum": List, "const": Any,
	"allOf": Schemas, "anyOf": Schemas, "oneOf": Schemas, "not": Schema,
	"if": Schema, "then": Schema, "else": Schema,
	"properties": Table, "patternProperties": Table, "additionalProperties": Schema,
	"unevaluatedProperties": Schema, "propertyNames": Schema,
	"required": Names, "minProperties": Count, "maxProperties": Count,
	"dependencies": Dependencies, "dependentSchemas": Table, "dependentRequired": NameLists,
	"items": Items, "prefixItems": Schemas, "additionalItems": Schema, "unevaluatedItems": Schema,
	"contains": Schema, "minContains": Count, "maxContains": Count,
	"minItems": Count, "maxItems": Count, "uniqueItems": Bool,
	"minLength": Count, "maxLength": Count, "pattern": Text,
	"minimum": Number, "maximum": Number, "multipleOf": Positive,
	"exclusiveMinimum": Number, "exclusiveMaximum": Number,

	"$comment": annotation | Text, "$vocabulary": annotation | Any, "title": annotation | Text,
	"description": annotation | Text, "default": annotation | Any, "examples": annotation | List, "format": annotation | Text,
	"deprecated": annotation | Bool, "readOnly": annotation | Bool, "writeOnly": annotation | Bool,
	"contentEncoding": annotation | Text, "contentMediaType": annotation | Text, "contentSchema": annotation | Schema,
}

// Of returns the shape of a keyword's value, 0 of one that is not known.
func Of(keyword string) Shape { return keywords[keyword] &^ annotation }

// Annotates reports whether a keyword says nothing about validity.
func Annotates(keyword string) bool { return keywords[keyword]&annotation != 0 }

// Refers reports whether a keyword refers to another schema.
func Refers(keyword string) bool {
	return keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$recursiveRef"
}

// InPlace reports whether the schemas which a keyword holds apply to the same
// value.
func InPlace(keyword string) bool {
	switch keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}
