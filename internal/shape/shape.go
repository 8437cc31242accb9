// Package shape describes JSON Schema's keywords: what their values look like,
// and which schemas they hold. By it schemas are read, repaired, lowered and
// linted.
package shape

import "github.com/toolpost/toolpost/internal/jsontree"

// A Shape is what the value of a keyword must look like.
type Shape uint16

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

// Properties of keywords beside the shape: it came after draft 7; it restricts no
// values; it identifies a schema or its draft, or defines schemas; it is about
// values of one type.
const (
	later Shape = 1 << (iota + 6)
	annotation

	numbers = Shape(jsontree.KindNumber) << 8
	texts   = Shape(jsontree.KindString) << 8
	arrays  = Shape(jsontree.KindArray) << 8
	objects = Shape(jsontree.KindObject) << 8

	identity Shape = 1 << 15
)

// keywords has all keywords of draft 4 to 2020-12 that say something about
// validity, and those that a strict reader refuses in a wrong shape.
var keywords = map[string]Shape{
	"$anchor": identity | Text | later, "$dynamicAnchor": identity | Text | later, "$recursiveAnchor": identity | Bool | later,
	"$id": identity | URI, "$schema": identity | URI, "$defs": identity | Table | later, "definitions": identity | Table,
	"$ref": URI, "$dynamicRef": URI | later, "$recursiveRef": URI | later,
	"type": Type, "enum": List, "const": Any,
	"allOf": Schemas, "anyOf": Schemas, "oneOf": Schemas, "not": Schema,
	"if": Schema, "then": Schema, "else": Schema,
	"properties": Table | objects, "patternProperties": Table | objects, "additionalProperties": Schema | objects,
	"unevaluatedProperties": Schema | objects | later, "propertyNames": Schema | objects,
	"required": Names | objects, "minProperties": Count | objects, "maxProperties": Count | objects,
	"dependencies": Dependencies | objects, "dependentSchemas": Table | objects | later, "dependentRequired": NameLists | objects | later,
	"items": Items | arrays, "prefixItems": Schemas | arrays | later, "additionalItems": Schema | arrays, "unevaluatedItems": Schema | arrays | later,
	"contains": Schema | arrays, "minContains": Count | arrays | later, "maxContains": Count | arrays | later,
	"minItems": Count | arrays, "maxItems": Count | arrays, "uniqueItems": Bool | arrays,
	"minLength": Count | texts, "maxLength": Count | texts, "pattern": Text | texts,
	"minimum": Number | numbers, "maximum": Number | numbers, "multipleOf": Positive | numbers,
	"exclusiveMinimum": Number | numbers, "exclusiveMaximum": Number | numbers,

	"$comment": identity | annotation | Text, "$vocabulary": identity | annotation | Any | later, "title": annotation | Text,
	"description": annotation | Text, "default": annotation | Any, "examples": annotation | List, "format": annotation | Text,
	"deprecated": annotation | Bool, "readOnly": annotation | Bool, "writeOnly": annotation | Bool,
	"contentEncoding": annotation | Text | texts, "contentMediaType": annotation | Text | texts, "contentSchema": annotation | Schema | texts,
}

// Of returns the shape of a keyword's value, 0 of one that is not known.
func Of(keyword string) Shape { return keywords[keyword] & (later - 1) }

// About returns the type of the values that a keyword is about, 0 if it is about
// values of any type, or not known.
func About(keyword string) jsontree.Kinds {
	return jsontree.Kinds(keywords[keyword]>>8) & jsontree.KindAny
}

// IsLater reports whether a keyword came after draft 7.
func IsLater(keyword string) bool { return keywords[keyword]&later != 0 }

// Annotates reports whether a keyword says nothing about validity.
func Annotates(keyword string) bool { return keywords[keyword]&annotation != 0 }

// Identifies reports whether a keyword identifies a schema or its draft, or
// defines schemas for references, and says nothing about values by itself.
func Identifies(keyword string) bool { return keywords[keyword]&identity != 0 }

// Silent reports whether a keyword says nothing about the value: an annotation
// that is not about its form.
func Silent(keyword string) bool {
	return Identifies(keyword) || Annotates(keyword) && About(keyword) == 0 && keyword != "format"
}

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
