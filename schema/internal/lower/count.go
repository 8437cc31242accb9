package lower

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// Counts are the quantities that readers limit over all schemas of a request.
type Counts struct {
	Optional   int // optional properties
	Unions     int // anyOf and lists of types
	Properties int
	EnumValues int
	Depth      int // levels of objects and arrays
	Runes      int // of names of properties and definitions, enum and const values
	Bytes      int // of the schema
}

// CountsOf counts what readers limit in a schema.
func CountsOf(schema json.RawMessage) Counts {
	root, broken := jsontree.ParseLenient(schema, maxLevels)
	if broken != nil {
		return Counts{}
	}
	c := Counts{Bytes: len(schema)}
	c.add(root)
	d := depthCounter{root: root, known: map[*jsontree.Value]int{}}
	c.Depth = d.depth(root)
	return c
}

// add counts a schema and all schemas inside it.
func (c *Counts) add(v *jsontree.Value) {
	for _, k := range v.Members() {
		switch k.Name {
		case "anyOf":
			c.Unions++
		case "type":
			if k.Kind == jsontree.KindArray {
				c.Unions++
			}
		case "properties":
			c.Properties += len(k.Members())
			c.Optional += max(0, len(k.Members())-len(v.Get("required").Items()))
			c.names(k)
		case "$defs", "definitions":
			c.names(k)
		case "enum":
			c.EnumValues += len(k.Items())
			c.Runes += runesOf(k)
		case "const":
			c.Runes += runesOf(k)
		}
		for _, sub := range shape.Subschemas(k) {
			c.add(sub)
		}
	}
}

func (c *Counts) names(table *jsontree.Value) {
	for _, m := range table.Members() {
		c.Runes += utf8.RuneCountInString(m.Name)
	}
}

// OverLong returns how many characters the values of a long enum have if the reader
// does not accept as many; 0 if it accepts the enum, or the enum is not long.
func (l *Limits) OverLong(enum json.RawMessage) int {
	if l.LongEnum == 0 {
		return 0
	}
	v := jsontree.Read(enum)
	if runes := runesOf(v); len(v.Items()) > l.LongEnum && runes > l.LongEnumRunes {
		return runes
	}
	return 0
}

func runesOf(v *jsontree.Value) int {
	n := 0
	for _, kid := range v.Kids {
		n += runesOf(kid)
	}
	switch {
	case v.Kind == jsontree.KindString:
		n += utf8.RuneCountInString(v.Text)
	case v.Kind&jsontree.KindNumber != 0:
		n += len(v.Raw)
	}
	return n
}

// A depthCounter counts the levels of objects and arrays, into each schema
// once.
type depthCounter struct {
	root  *jsontree.Value
	names *shape.Index            // nil before the first reference
	known map[*jsontree.Value]int // 0 while it is being counted
}

func (d *depthCounter) depth(v *jsontree.Value) int {
	if levels, known := d.known[v]; known {
		return levels
	}
	d.known[v] = 0
	deepest, levels := 0, 0
	for _, k := range v.Members() {
		switch k.Name {
		case "$defs", "definitions":
			continue
		case "$ref":
			if d.names == nil {
				d.names = shape.NewIndex(d.root)
			}
			if to := d.names.Find(v, k.Text); to != nil {
				deepest = max(deepest, d.depth(to))
			}
		case "type":
			if raw := bytes.ToLower(k.Raw); bytes.Contains(raw, []byte(`"object"`)) || bytes.Contains(raw, []byte(`"array"`)) {
				levels = 1
			}
		case "properties", "items", "additionalProperties":
			levels = 1
		}
		for _, sub := range shape.Subschemas(k) {
			deepest = max(deepest, d.depth(sub))
		}
	}
	d.known[v] = deepest + levels
	return deepest + levels
}
