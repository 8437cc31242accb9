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

var typeNames = map[string]Kinds{
	"null": KindNull, "boolean": KindBoolean, "integer": KindInteger, "number": KindNumber,
	"string": KindString, "array": KindArray, "object": KindObject,
}

// shapes tell a proper value from others, without a look into subschemas.
// Shapes that are not here take anything.
var shapes = map[shape]func(*value) bool{
	shapeSchema:       isSchema,
	shapeSchemas:      func(v *value) bool { return len(v.kids) > 0 && isListOf(v, isSchema) },
	shapeTable:        func(v *value) bool { return isTableOf(v, isSchema) },
	shapeItems:        func(v *value) bool { return isSchema(v) || isListOf(v, isSchema) },
	shapeDependencies: func(v *value) bool { return isTableOf(v, func(v *value) bool { return isSchema(v) || isNames(v) }) },
	shapeCount:        func(v *value) bool { return v.kind == KindInteger && v.raw[0] != '-' && isMeasure(v) },
	shapeNumber:       isMeasure,
	shapePositive:     func(v *value) bool { return isMeasure(v) && v.raw[0] != '-' && !parseDecimal(v.raw).isZero() },
	shapeBool:         func(v *value) bool { return v.kind == KindBoolean },
	shapeString:       isString,
	shapeURI:          isURI,
	shapeNames:        isNames,
	shapeNameLists:    func(v *value) bool { return isTableOf(v, isNames) },
	shapeType:         func(v *value) bool { return isType(v) || len(v.kids) > 0 && isListOf(v, isType) && isNames(v) },
	shapeEnum:         func(v *value) bool { return v.kind == KindArray },
}

func (s shape) fits(v *value) bool {
	ok := shapes[s]
	return ok == nil || ok(v)
}

func isSchema(v *value) bool { return v.kind&(KindObject|KindBoolean) != 0 }
func isString(v *value) bool { return v.kind == KindString }
func isType(v *value) bool   { return v.kind == KindString && typeNames[v.text] != 0 }

func isURI(v *value) bool {
	_, err := url.Parse(v.text)
	return v.kind == KindString && err == nil
}

func isListOf(v *value, ok func(*value) bool) bool {
	return v.kind == KindArray && !slices.ContainsFunc(v.kids, func(kid *value) bool { return !ok(kid) })
}

func isTableOf(v *value, ok func(*value) bool) bool {
	return v.kind == KindObject && !slices.ContainsFunc(v.kids, func(kid *value) bool { return !ok(kid) })
}

func isNames(v *value) bool {
	seen := map[string]bool{}
	return isListOf(v, func(kid *value) bool {
		fresh := !seen[kid.text]
		seen[kid.text] = true
		return kid.kind == KindString && fresh
	})
}

// isMeasure bounds numbers, so that [boundedNumber] is exact.
func isMeasure(v *value) bool {
	if v.kind&KindNumber == 0 || len(v.raw) > 300 {
		return false
	}
	d := parseDecimal(v.raw)
	return d.exp <= 400 && d.exp >= -700
}

// subschemas yields the schemas that a keyword holds, with the pointer to
// each from the keyword's own place.
func subschemas(v *value) iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		switch s := keywords[v.name]; s {
		case shapeSchema, shapeItems:
			if isSchema(v) {
				yield("", v)
				return
			}
			fallthrough
		case shapeSchemas, shapeTable, shapeDependencies:
			for i, kid := range v.kids {
				name := strconv.Itoa(i)
				if v.kind == KindObject {
					name = escapePointer(kid.name)
				}
				if isSchema(kid) && !yield("/"+name, kid) {
					return
				}
			}
		}
	}
}
