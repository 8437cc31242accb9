package dialect

import "strings"

// A shape is what the value of a keyword looks like in draft 2020-12.
type shape int

const (
	shapeSchema       shape = iota + 1
	shapeItems              // a schema; up to draft 2019-09 also a list of them
	shapeSchemas            // a list of schemas, not empty
	shapeTable              // an object of schemas
	shapeDependencies       // an object of schemas or lists of names
	shapeNames              // a list of texts, each once
	shapeNameLists          // an object of lists of names
	shapeCount              // an integer, not negative
	shapeNumber
	shapePositive
	shapeBool
	shapeText
	shapeType // the name of a type, or a list of them
	shapeList
)

// shapes has the keywords that hold schemas, and those that a metaschema
// refuses in a wrong shape.
var shapes = map[string]shape{
	"$id": shapeText, "$schema": shapeText, "$ref": shapeText, "$anchor": shapeText, "$dynamicRef": shapeText,
	"$dynamicAnchor": shapeText, "$comment": shapeText, "$defs": shapeTable, "definitions": shapeTable,
	"type": shapeType, "enum": shapeList, "title": shapeText, "description": shapeText, "examples": shapeList,
	"deprecated": shapeBool, "readOnly": shapeBool, "writeOnly": shapeBool, "format": shapeText,
	"allOf": shapeSchemas, "anyOf": shapeSchemas, "oneOf": shapeSchemas, "not": shapeSchema,
	"if": shapeSchema, "then": shapeSchema, "else": shapeSchema,
	"properties": shapeTable, "patternProperties": shapeTable, "additionalProperties": shapeSchema,
	"unevaluatedProperties": shapeSchema, "propertyNames": shapeSchema,
	"required": shapeNames, "minProperties": shapeCount, "maxProperties": shapeCount,
	"dependencies": shapeDependencies, "dependentSchemas": shapeTable, "dependentRequired": shapeNameLists,
	"items": shapeItems, "prefixItems": shapeSchemas, "additionalItems": shapeSchema, "unevaluatedItems": shapeSchema,
	"contains": shapeSchema, "minContains": shapeCount, "maxContains": shapeCount,
	"minItems": shapeCount, "maxItems": shapeCount, "uniqueItems": shapeBool,
	"minLength": shapeCount, "maxLength": shapeCount, "pattern": shapeText,
	"minimum": shapeNumber, "maximum": shapeNumber, "multipleOf": shapePositive,
	"exclusiveMinimum": shapeNumber, "exclusiveMaximum": shapeNumber,
	"contentEncoding": shapeText, "contentMediaType": shapeText, "contentSchema": shapeSchema,
}

// wants tells the shapes in words.
var wants = map[shape]string{
	shapeSchema: "a schema", shapeItems: "one schema, not a list of them", shapeSchemas: "a list of schemas",
	shapeTable: "an object of schemas", shapeDependencies: "an object of schemas or lists of names",
	shapeNames: "a list of names, each once", shapeNameLists: "an object of lists of names",
	shapeCount: "an integer, not negative", shapeNumber: "a number", shapePositive: "a number above 0",
	shapeBool: "true or false", shapeText: "text", shapeType: "the name of a type, or a list of them", shapeList: "a list",
}

// fits says that v has the shape. Older drafts have lists of items.
func (s shape) fits(v *value, older bool) bool {
	if s == shapeItems && older && isList(v, (*value).isSchema) {
		return true
	}
	return fitting[s](v)
}

// fitting tells a proper value from others, without a look into subschemas.
var fitting = map[shape]func(*value) bool{
	shapeSchema:       (*value).isSchema,
	shapeItems:        (*value).isSchema,
	shapeSchemas:      func(v *value) bool { return len(v.kids) > 0 && isList(v, (*value).isSchema) },
	shapeTable:        func(v *value) bool { return v.kind == '{' && all(v.kids, (*value).isSchema) },
	shapeDependencies: func(v *value) bool { return v.kind == '{' && all(v.kids, isDependency) },
	shapeNames:        isNames,
	shapeNameLists:    func(v *value) bool { return v.kind == '{' && all(v.kids, isNames) },
	shapeCount:        func(v *value) bool { return isPositive(v) && isInteger(v.text) },
	shapeNumber:       func(v *value) bool { return v.kind == '0' },
	shapePositive:     func(v *value) bool { return isPositive(v) && strings.ContainsAny(mantissa(v.text), "123456789") },
	shapeBool:         (*value).isBool,
	shapeText:         isText,
	shapeType:         func(v *value) bool { return isType(v) || len(v.kids) > 0 && isNames(v) && all(v.kids, isType) },
	shapeList:         func(v *value) bool { return v.kind == '[' },
}

func all(vs []*value, ok func(*value) bool) bool {
	for _, v := range vs {
		if !ok(v) {
			return false
		}
	}
	return true
}

func isList(v *value, of func(*value) bool) bool { return v.kind == '[' && all(v.kids, of) }
func isText(v *value) bool                       { return v.kind == '"' }
func isPositive(v *value) bool                   { return v.kind == '0' && v.text[0] != '-' }
func isDependency(v *value) bool                 { return v.isSchema() || isNames(v) }

func isNames(v *value) bool {
	seen := make(map[string]bool, len(v.items()))
	return v.kind == '[' && all(v.kids, func(v *value) bool {
		fresh := !seen[v.text]
		seen[v.text] = true
		return v.kind == '"' && fresh
	})
}

func isType(v *value) bool { return v.kind == '"' && kindOf(v.text) != 0 }

func mantissa(number string) string {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		return number[:i]
	}
	return number
}

// isInteger says that a number is whole as written: 3 and 3.0. Others, such
// as 30e-1, are nothing that anyone writes as a count.
func isInteger(number string) bool {
	_, fraction, _ := strings.Cut(number, ".")
	return strings.Trim(fraction, "0") == "" && mantissa(number) == number
}

// inPlace has the keywords whose schemas apply to the same value.
var inPlace = map[string]bool{
	"allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true,
	"dependentSchemas": true, "dependencies": true,
}

// later has the keywords that came after draft 7.
var later = map[string]bool{
	"$defs": true, "$anchor": true, "$dynamicRef": true, "$dynamicAnchor": true, "$recursiveRef": true,
	"$recursiveAnchor": true, "$vocabulary": true, "prefixItems": true, "dependentSchemas": true,
	"dependentRequired": true, "unevaluatedProperties": true, "unevaluatedItems": true,
	"minContains": true, "maxContains": true,
}
