package schema

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// A field is one struct field that encoding/json writes.
type field struct {
	name     string // in JSON
	path     string // in Go, from the struct down
	sf       reflect.StructField
	depth    int  // how many embedded structs it is in
	tagged   bool // its name comes from a tag
	optional bool
	omits    bool // it is left out where it is empty: nil is not written
	quoted   bool
}

// structure describes a struct, fields of embedded structs in their place.
func (in *inference) structure(t reflect.Type, at place) *draft {
	properties, required := object{}, []string(nil)
	for _, f := range dominant(in.fields(t, at.path, nil)) {
		d, must := in.property(&f, at.field(&f))
		properties = append(properties, member{f.name, d})
		if must {
			required = append(required, f.name)
		}
	}
	d := typed(kindObject).set("properties", properties).set("additionalProperties", false)
	if required != nil {
		d.set("required", required)
	}
	return d
}

// property describes a field and says whether it is required.
func (in *inference) property(f *field, at place) (d *draft, required bool) {
	d = in.of(f.sf.Type, at)
	d.null = d.null && !(f.omits && f.sf.Type.Elem().Kind() != reflect.Pointer)
	if f.quoted {
		d = quote(d, deref(f.sf.Type))
	}
	must, keywords, err := parseTags(f.sf.Tag)
	for i := 0; i < len(keywords) && err == nil; i++ {
		err = d.apply(keywords[i])
	}
	if err == nil && !in.output {
		err = d.checkDefault(f)
	}
	if err != nil {
		in.fail(at.path, "%w", err)
	}
	if in.output {
		return d, !f.optional
	}
	optional := f.optional || f.sf.Type.Kind() == reflect.Pointer || d.get("default") != nil
	return d, must || !optional
}

// quote describes a value that the option string of a json tag puts in a JSON string.
func quote(d *draft, t reflect.Type) *draft {
	q := typed(kindString)
	q.null, q.unit = d.null, d.unit
	if description := d.get("description"); description != nil {
		q.set("description", description)
	}
	if values, ok := d.get("enum").([]jsontext.Value); ok {
		for i, v := range values {
			values[i] = quoteText(string(v))
		}
		return q.set("enum", values)
	}
	switch d.kind {
	case kindBoolean:
		return q.set("enum", []jsontext.Value{quoteText("false"), quoteText("true")})
	case kindString:
		return q.set("pattern", `^".*"$`)
	}
	return q.set("pattern", numeral(t.Kind()))
}

// fields returns the fields of t and of the structs embedded in it, in order.
func (in *inference) fields(t reflect.Type, path string, outer []reflect.Type) []field {
	var all []field
	own := map[string]string{}
	outer = append(slices.Clip(outer), t)
	for sf := range t.Fields() {
		at := path + "." + sf.Name
		tag, hasTag := sf.Tag.Lookup("json")
		if tag == "-" {
			continue
		}
		elem := sf.Type
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if !sf.IsExported() && !(sf.Anonymous && elem.Kind() == reflect.Struct) {
			if _, described := sf.Tag.Lookup("jsonschema"); hasTag || described {
				in.fail(at, "it is tagged but not exported; export it, or leave out the tag")
			}
			continue
		}
		f := in.field(sf, tag, at)
		f.depth = len(outer) - 1
		if sf.Anonymous && !f.tagged && elem.Kind() == reflect.Struct {
			all = append(all, in.embedded(sf, elem, at, outer)...)
			continue
		}
		if other := own[f.name]; other != "" {
			in.fail(at, "its JSON name %q is that of %s; rename one of them", f.name, other)
		}
		own[f.name] = sf.Name
		all = append(all, f)
	}
	return all
}

// field reads the json tag of a field.
func (in *inference) field(sf reflect.StructField, tag, at string) field {
	name, rest, _ := strings.Cut(tag, ",")
	if strings.ContainsFunc(name, unnamable) {
		in.fail(at, "json name %q is not one that encoding/json takes; use letters, digits and - or _", name)
	}
	f := field{name: name, path: sf.Name, sf: sf, tagged: name != ""}
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
			in.fail(at, "json option %q is not supported; describe the type with a method JSONSchema() *schema.Schema", option)
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
	return scalar && !writesJSON(t) && !writesText(t)
}

// embedded returns the fields that an embedded struct gives to its parent. In
// a struct that embeds itself all of them are hidden.
func (in *inference) embedded(sf reflect.StructField, elem reflect.Type, at string, outer []reflect.Type) []field {
	if slices.Contains(outer, elem) {
		return nil
	}
	pointer := sf.Type.Kind() == reflect.Pointer
	if pointer && !sf.IsExported() && !in.output {
		in.fail(at, "an embedded pointer to an unexported struct cannot be read from JSON; export it or embed it by value")
	}
	all := in.fields(elem, at, outer)
	for i := range all {
		all[i].path = sf.Name + "." + all[i].path
		all[i].optional = all[i].optional || pointer // a nil pointer leaves all of them out
	}
	return all
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
