package accept

import (
	"encoding/json"
	"slices"
	"strings"
)

// geminiTypeName returns the JSON Schema name of a type, "" if it is none of them.
func geminiTypeName(t *value) string {
	if t == nil || !slices.Contains(strings.Fields(geminiTypes), strings.ToUpper(t.text)) {
		return ""
	}
	return strings.ToLower(t.text)
}

const (
	geminiTypes  = "STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL"
	geminiCounts = "minItems maxItems minLength maxLength minProperties maxProperties"
)

// fromGemini converts a schema in the dialect of FunctionDeclaration.parameters
// to JSON Schema that accepts the same values.
func fromGemini(schema json.RawMessage) (json.RawMessage, error) {
	if _, err := parse(schema); err != nil {
		return nil, err
	}
	var found []Violation
	s := newSubject(Tool{Input: schema}, &found)
	for _, p := range s.places {
		if p.v.isObject() {
			nodeFromGemini(p)
		}
	}
	return s.root.raw(), nil
}

func nodeFromGemini(p *place) {
	nullable := p.v.get("nullable") != nil && p.v.get("nullable").truth
	name := geminiTypeName(p.v.get("type"))
	switch {
	case name == "":
	case nullable && name != "null":
		p.v.set("type", newArray(newText(name), newText("null")))
	default:
		p.v.set("type", newText(name))
	}
	if e := p.v.get("enum"); e != nil {
		p.v.set("enum", geminiEnum(e, name == "integer" || name == "number", nullable))
	}
	if a := p.v.get("anyOf"); nullable && a != nil {
		p.v.set("anyOf", newArray(append(a.list(), newObject(member{"type", newText("null")}))...))
	}
	p.v.members = slices.DeleteFunc(p.v.members, func(m member) bool {
		return slices.Contains([]string{"nullable", "propertyOrdering", "example", "format"}, m.name)
	})
	for _, name := range strings.Fields(geminiCounts) { // proto writes int64 as text
		if n := p.v.get(name); n != nil {
			p.v.set(name, &value{kind: number, text: n.text})
		}
	}
}

// geminiEnum turns the texts of a numeric enum into the numbers they stand for.
func geminiEnum(e *value, numeric, nullable bool) *value {
	converted := newArray()
	for _, i := range e.items {
		if numeric && i.kind == text {
			i = &value{kind: number, text: i.text}
		}
		converted.items = append(converted.items, i)
	}
	if nullable {
		converted.items = append(converted.items, &value{})
	}
	return converted
}
