package schema

import (
	"iter"
	"net/url"
	"slices"
	"strconv"
)

// A shape is what the value of a keyword must look like.
type shape int

const (
	shapeAnnotation   shape = iota + 1 // says nothing about validity
	shapeAny                           // any value
	shapeSchema                        // a schema
	shapeSchemas                       // a list of schemas, not empty
	shapeTable                         // an object of schemas
	shapeItems                         // a schema, or a list of them up to draft 2019-09
	shapeDependencies                  // an object of schemas or name lists
	shapeCount                         // an integer, not negative
	shapeNumber                        // a number
	shapePositive                      // a number above 0
	shapeBool                          // true or false
	shapeString                        // a string
	shapeURI                           // a URI reference
	shapeNames                         // a list of names, without duplicates
	shapeNameLists                     // an object of name lists
	shapeType                          // the name of a type, or a list of them
	shapeEnum                          // a list of values
)

// keywords has all keywords of draft 4 to 2020-12 that say something about
// validity, and those that a strict reader refuses in a wrong shape.
var keywords = map[string]shape{
	"$anchor": shapeString, "$dynamicAnchor": shapeString, "$recursiveAnchor": shapeBool,
	"$id": shapeURI, "$ref": shapeURI, "$dynamicRef": shapeURI, "$recursiveRef": shapeURI, "$schema": shapeURI,
	"$defs": shapeTable, "definitions": shapeTable,
	"type": shapeType, "enum": shapeEnum, "const": shapeAny,
	"allOf": shapeSchemas, "anyOf": shapeSchemas, "oneOf": shapeSchemas, "not": shapeSchema,
	"if": shapeSchema, "then": shapeSchema, "else": shapeSchema,
	"properties": shapeTable, "patternProperties": shapeTable, "additionalProperties": shapeSchema,
	"unevaluatedProperties": shapeSchema, "propertyNames": shapeSchema,
	"required": shapeNames, "minProperties": shapeCount, "maxProperties": shapeCount,
	"dependencies": shapeDependencies, "dependentSchemas": shapeTable, "dependentRequired": shapeNameLists,
	"items": shapeItems, "prefixItems": shapeSchemas, "additionalItems": shapeSchema, "unevaluatedItems": shapeSchema,
	"contains": shapeSchema, "minContains": shapeCount, "maxContains": shapeCount,
	"minItems": shapeCount, "maxItems": shapeCount, "uniqueItems": shapeBool,
	"minLength": shapeCount, "maxLength": shapeCount, "pattern": shapeString,
	"minimum": shapeNumber, "maximum": shapeNumber, "multipleOf": shapePositive,
	"exclusiveMinimum": shapeNumber, "exclusiveMaximum": shapeNumber,

	"$comment": shapeAnnotation, "$vocabulary": shapeAnnotation, "title": shapeAnnotation, "description": shapeAnnotation,
	"default": shapeAnnotation, "examples": shapeAnnotation, "format": shapeAnnotation,
	"deprecated": shapeAnnotation, "readOnly": shapeAnnotation, "writeOnly": shapeAnnotation,
	"contentEncoding": shapeAnnotation, "contentMediaType": shapeAnnotation, "contentSchema": shapeAnnotation,
}

// inPlace has the keywords whose schemas apply to the same value.
var inPlace = map[string]bool{
	"allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true,
	"dependentSchemas": true, "dependencies": true,
}

var typeNames = map[string]kinds{
	"null": kindNull, "boolean": kindBoolean, "integer": kindInteger, "number": kindNumber,
	"string": kindString, "array": kindArray, "object": kindObject,
}

func (v *value) isSchema() bool { return v.kind&(kindObject|kindBoolean) != 0 }

func (v *value) each(ok func(*value) bool) bool {
	for _, kid := range v.kids {
		if !ok(kid) {
			return false
		}
	}
	return true
}

// fits says that v is a proper value for a keyword of that shape. Subschemas
// are not looked into.
func (v *value) fits(s shape) bool {
	switch s {
	case shapeSchema:
		return v.isSchema()
	case shapeSchemas:
		return v.kind == kindArray && len(v.kids) > 0 && v.each((*value).isSchema)
	case shapeItems:
		return v.isSchema() || v.kind == kindArray && v.each((*value).isSchema)
	case shapeTable:
		return v.kind == kindObject && v.each((*value).isSchema)
	case shapeDependencies:
		return v.kind == kindObject && v.each(func(kid *value) bool { return kid.isSchema() || kid.isNames() })
	case shapeNameLists:
		return v.kind == kindObject && v.each((*value).isNames)
	case shapeNames:
		return v.isNames()
	case shapeType:
		return v.isType() || v.kind == kindArray && len(v.kids) > 0 && v.each((*value).isType) && v.isNames()
	case shapeEnum:
		return v.kind == kindArray
	case shapeBool:
		return v.kind == kindBoolean
	case shapeString, shapeURI:
		_, err := url.Parse(v.text)
		return v.kind == kindString && (s == shapeString || err == nil)
	case shapeCount, shapeNumber, shapePositive:
		return v.fitsNumber(s)
	}
	return true
}

func (v *value) isType() bool { return v.kind == kindString && typeNames[v.text] != 0 }

func (v *value) isNames() bool {
	seen := map[string]bool{}
	return v.kind == kindArray && v.each(func(kid *value) bool {
		fresh := !seen[kid.text]
		seen[kid.text] = true
		return kid.kind == kindString && fresh
	})
}

// fitsNumber also bounds size and exponent, so that [boundedNumber] is exact.
func (v *value) fitsNumber(s shape) bool {
	if v.kind&kindNumber == 0 || len(v.raw) > 300 {
		return false
	}
	d := parseDecimal(v.raw)
	switch {
	case d.exp > 400 || d.exp < -700:
		return false
	case s == shapeCount:
		return !d.neg && v.kind == kindInteger
	case s == shapePositive:
		return !d.neg && !d.isZero()
	}
	return true
}

// subschemas yields the schemas that a keyword holds, with the pointer to
// each from the keyword's own place.
func (v *value) subschemas() iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		switch s := keywords[v.name]; s {
		case shapeSchema, shapeItems:
			if v.isSchema() {
				yield("", v)
				return
			}
			fallthrough
		case shapeSchemas, shapeTable, shapeDependencies:
			for i, kid := range v.kids {
				name := strconv.Itoa(i)
				if v.kind == kindObject {
					name = escapePointer(kid.name)
				}
				if kid.isSchema() && !yield("/"+name, kid) {
					return
				}
			}
		}
	}
}

// drop removes the member of that name.
func (v *value) drop(name string) {
	v.kids = slices.DeleteFunc(v.kids, func(kid *value) bool { return kid.name == name })
}
