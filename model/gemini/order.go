package gemini

import (
	"bytes"
	"encoding/json"
)

// A place is what a JSON value inside a schema is.
type place int

const (
	plain   place = iota // no schema
	aSchema              // a schema, or a list of them
	schemas              // an object whose members are schemas
)

// member is the place of a schema's keyword, or of an object's member.
func (p place) member(name string) place {
	switch {
	case p == schemas:
		return aSchema
	case p == plain:
		return plain
	}
	switch name {
	case "properties", "$defs":
		return schemas
	case "items", "prefixItems", "anyOf", "additionalProperties":
		return aSchema
	}
	return plain
}

// withOrder returns a schema in which propertyOrdering tells the order of
// properties: on the way to Gemini, they are sorted by name. Numbers beyond
// float64 are an error, as they are in the SDK when it sends them.
func withOrder(raw json.RawMessage) (json.RawMessage, error) {
	v, err := read(json.NewDecoder(bytes.NewReader(raw)), aSchema)
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
	return t, nil
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
