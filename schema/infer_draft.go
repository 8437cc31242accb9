package schema

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// An object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// MarshalJSONTo writes the members in order.
func (o object) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := e.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, m.value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// A draft is a schema under construction.
type draft struct {
	object
	kind jsontree.Kinds // of the values that keywords can speak about; 0 is any
	null bool           // null is allowed too
	unit string         // the unit of a number, stated after any description
}

// keywordOrder is the order in which a reader wants keywords: first what the
// value is, then its bounds, then its parts.
var keywordOrder = []string{
	"$ref", "type", "title", "description", "enum", "default", "examples", "format", "contentEncoding", "pattern",
	"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "items", "minProperties", "maxProperties",
	"properties", "required", "propertyNames", "additionalProperties", "readOnly", "writeOnly", "deprecated", "$defs",
}

// kindDraft returns the draft of a type that has a JSON type of its own.
func kindDraft(kind jsontree.Kinds) *draft {
	d := &draft{kind: kind}
	d.set("type", typeName(kind))
	return d
}

func typeName(kind jsontree.Kinds) string {
	if kind == jsontree.KindAny {
		return "any"
	}
	return kind.Names()[0]
}

// set gives a keyword its value, at its place in the order.
func (d *draft) set(name string, value any) *draft {
	for i := range d.object {
		if d.object[i].name == name {
			d.object[i].value = value
			return d
		}
	}
	rank := slices.Index(keywordOrder, name)
	at := slices.IndexFunc(d.object, func(m member) bool { return slices.Index(keywordOrder, m.name) > rank })
	if at < 0 {
		at = len(d.object)
	}
	d.object = slices.Insert(d.object, at, member{name, value})
	return d
}

// MarshalJSONTo writes the schema, with null as one more type or alternative.
func (d *draft) MarshalJSONTo(e *jsontext.Encoder) error {
	if !d.null {
		return d.object.MarshalJSONTo(e)
	}
	name, ok := d.get("type").(string)
	if !ok {
		null := object{{"type", "null"}}
		return object{{"anyOf", []object{d.object, null}}}.MarshalJSONTo(e)
	}
	or := draft{object: slices.Clone(d.object)}
	or.set("type", []string{name, "null"})
	if enum, ok := d.get("enum").([]jsontext.Value); ok {
		or.set("enum", append(slices.Clip(enum), jsontext.Value("null")))
	}
	return or.object.MarshalJSONTo(e)
}
