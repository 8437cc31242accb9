package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A place is what a JSON value inside a schema is.
type place int

const (
	plain   place = iota // no schema
	aSchema              // a schema, or a list of them
	schemas              // an object whose members are schemas
	listed               // a value that the model has to repeat exactly
)

// member is the place of a schema's keyword, or of an object's member.
func (p place) member(name string) place {
	switch {
	case p == schemas:
		return aSchema
	case p != aSchema:
		return p
	}
	switch name {
	case "properties", "$defs":
		return schemas
	case "items", "prefixItems", "anyOf", "additionalProperties":
		return aSchema
	case "enum", "const":
		return listed
	}
	return plain
}

// OrderProperties returns a schema in which propertyOrdering lists the order of
// properties, because Google's API sorts them by name before the model reads them. The
// API reads a schema as a google.protobuf.Value or as its Schema, whose numbers are
// float64. OrderProperties returns an error for a number that is too large for one, and
// for an integer of an enum or const that would become another.
func OrderProperties(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := read(d, aSchema)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func read(d *json.Decoder, at place) (any, error) {
	t, err := d.Token()
	switch {
	case err != nil:
		return nil, err
	case t == json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := read(d, at)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case t == json.Delim('{'):
		return readObject(d, at)
	}
	if n, ok := t.(json.Number); ok {
		return n, checkNumber(n, at)
	}
	return t, nil
}

// checkNumber returns an error if n is not a float64, or would become another number
// where the model has to repeat it exactly.
func checkNumber(n json.Number, at place) error {
	if _, err := n.Float64(); err != nil {
		return fmt.Errorf("the number %s is too large for a float64", n)
	}
	if at != listed || strings.ContainsAny(n.String(), ".eE") {
		return nil
	}
	if i, err := n.Int64(); err != nil || int64(float64(i)) != i {
		return fmt.Errorf("the listed value %s would be another number for Google, which reads a float64; list it as a string", n)
	}
	return nil
}

// An object remembers the order of its members only until it is encoded.
type object struct {
	members map[string]any
	names   []string
}

// MarshalJSON writes the members, sorted.
func (o *object) MarshalJSON() ([]byte, error) { return json.Marshal(o.members) }

func readObject(d *json.Decoder, at place) (*object, error) {
	o := &object{members: map[string]any{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if o.members[name], err = read(d, at.member(name)); err != nil {
			return nil, err
		}
		o.names = append(o.names, name)
	}
	properties, _ := o.members["properties"].(*object)
	if at == aSchema && properties != nil && len(properties.names) > 1 && o.members["propertyOrdering"] == nil {
		o.members["propertyOrdering"] = properties.names
	}
	_, err := d.Token()
	return o, err
}
