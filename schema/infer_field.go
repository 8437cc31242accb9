package schema

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A field is one struct field that encoding/json writes.
type field struct {
	name     string // in JSON
	path     string // in Go, from the struct down
	sf       reflect.StructField
	depth    int  // how many embedded structs it is in
	tagged   bool // its name comes from a tag
	optional bool // it may be left out
	omits    bool // it is left out where it is empty: nil is not written
	quoted   bool // it is a string that holds its JSON
}

// fields returns the fields of t that encoding/json writes, in their order.
func fields(in *inference, t reflect.Type, path string) []field {
	l := layout{in: in}
	l.add(t, path)
	return dominant(l.found)
}

// A layout collects the fields of a struct and of the structs embedded in it.
type layout struct {
	in    *inference
	outer []reflect.Type // the struct being read, after those that embed it
	found []field
}

func (l *layout) add(t reflect.Type, path string) {
	l.outer = append(l.outer, t)
	own := map[string]string{}
	for sf := range t.Fields() {
		at := path + "." + sf.Name
		tag := sf.Tag.Get("json")
		elem := structOf(sf)
		if tag == "-" || !sf.IsExported() && elem == nil {
			if _, described := sf.Tag.Lookup("jsonschema"); tag != "-" && (tag != "" || described) {
				l.in.fail(at, "it is tagged but not exported; export it, or leave out the tag")
			}
			continue
		}
		f := l.field(sf, tag, at)
		if elem != nil && !f.tagged {
			l.embed(sf, elem, at)
			continue
		}
		if other := own[f.name]; other != "" {
			l.in.fail(at, "its JSON name %q is also that of %s; rename one of them", f.name, other)
		}
		own[f.name] = sf.Name
		l.found = append(l.found, f)
	}
	l.outer = l.outer[:len(l.outer)-1]
}

// structOf returns the struct that is embedded as sf, nil if none is.
func structOf(sf reflect.StructField) reflect.Type {
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !sf.Anonymous || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// field reads the json tag of a field.
func (l *layout) field(sf reflect.StructField, tag, at string) field {
	name, rest, _ := strings.Cut(tag, ",")
	if strings.ContainsFunc(name, unnamable) {
		l.in.fail(at, "encoding/json does not accept the json name %q; use letters, digits and - or _", name)
	}
	f := field{name: name, path: sf.Name, sf: sf, depth: len(l.outer), tagged: name != ""}
	if !f.tagged {
		f.name = sf.Name
	}
	for option := range strings.SplitSeq(rest, ",") {
		switch {
		case option == "omitempty", option == "omitzero":
			f.optional, f.omits = true, true
		case option == "string":
			f.quoted = quotable(sf.Type)
		case option == "embed", strings.HasPrefix(option, "format:"):
			l.in.fail(at, "json option %q is not supported; describe the type with a method JSONSchema() *schema.Schema", option)
		}
	}
	return f
}

// unnamable says that encoding/json does not take a name with r from a tag.
func unnamable(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
}

// quotable says that the option string has an effect on t: it is a plain scalar.
func quotable(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	scalar := reflect.Bool <= t.Kind() && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String
	return scalar && plain(t)
}

// embed adds the fields of an embedded struct. In a struct that embeds itself
// all of them are hidden.
func (l *layout) embed(sf reflect.StructField, t reflect.Type, at string) {
	if slices.Contains(l.outer, t) {
		return
	}
	pointer := sf.Type.Kind() == reflect.Pointer
	if pointer && !sf.IsExported() && !l.in.output {
		l.in.fail(at, "an embedded pointer to an unexported struct cannot be read from JSON; export it or embed it by value")
	}
	before := len(l.found)
	l.add(t, at)
	for i := range l.found[before:] {
		f := &l.found[before+i]
		f.path = sf.Name + "." + f.path
		f.optional = f.optional || pointer // a nil pointer leaves all of them out
	}
}

// dominant leaves out the fields that others of the same name hide: the least
// deep one wins, then the tagged one, and equals hide each other.
func dominant(all []field) []field {
	var visible []field
	for i, f := range all {
		hidden := false
		for j, g := range all {
			if i != j && f.name == g.name && !f.beats(&g) {
				hidden = true
			}
		}
		if !hidden {
			visible = append(visible, f)
		}
	}
	return visible
}

func (f *field) beats(g *field) bool {
	return f.depth < g.depth || f.depth == g.depth && f.tagged && !g.tagged
}
