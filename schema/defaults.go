package schema

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// IsObject says that the schema declares type object at its root.
func (s *Schema) IsObject() bool {
	t := parseValue(s.raw).get("type")
	return t != nil && t.text == "object"
}

// Defaults returns an object of the schema's defaults, those of nested
// objects included, or nil if it declares none. A definition that contains
// itself gives none: there is no end to them.
func (s *Schema) Defaults() []byte {
	d := defaults{root: parseValue(s.raw), endless: map[string]bool{}}
	found := d.object(d.root)
	if found == nil || d.visited > maxDefaults {
		return nil
	}
	raw, err := json.Marshal(found)
	if err != nil { // a name given twice: nothing that could be decoded
		return nil
	}
	return raw
}

// maxDefaults is how many properties are looked at: a small schema can refer
// to an object of any size.
const maxDefaults = 10_000

// defaults is one walk through the defaults of a schema.
type defaults struct {
	root    *value
	refs    []string        // being followed
	endless map[string]bool // refs that were met while they were followed
	visited int
}

// object returns the defaults of the properties of s, nil if there are none.
func (d *defaults) object(s *value) object {
	properties := s.get("properties")
	if properties == nil {
		return nil
	}
	var found object
	for _, p := range properties.kids {
		if d.visited++; d.visited > maxDefaults {
			return nil
		}
		if v := d.of(p); v != nil {
			found = append(found, member{p.name, v})
		}
	}
	return found
}

// of returns the default of s: its own, or else that of its parts.
func (d *defaults) of(s *value) any {
	if own := s.get("default"); own != nil {
		return jsontext.Value(own.raw)
	}
	if found := d.object(s); found != nil {
		return found
	}
	if ref := s.get("$ref"); ref != nil {
		return d.follow(ref.text)
	}
	return nil
}

func (d *defaults) follow(ref string) any {
	if slices.Contains(d.refs, ref) {
		d.endless[ref] = true
		return nil
	}
	pointer, ok := localRef(ref)
	target := d.root.at(pointer)
	if !ok || target == nil {
		return nil
	}
	d.refs = append(d.refs, ref)
	found := d.of(target)
	d.refs = d.refs[:len(d.refs)-1]
	if d.endless[ref] {
		return nil
	}
	return found
}
