package schema_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/form"
)

// told collects the pointers of all keywords that a document accounts for.
func told(d *form.Document) map[string]bool {
	all := map[string]bool{}
	add := func(at string, names ...string) {
		for _, name := range names {
			all[at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)] = true
		}
	}
	forms(d, func(f *form.Form) {
		add(f.At, "type")
		when := func(said bool, names ...string) {
			if said {
				add(f.At, names...)
			}
		}
		when(f.Enum != nil, "enum", "const")
		when(f.Alts != nil, "anyOf", "oneOf")
		when(f.Ref != nil, "$ref")
		if n := f.Number; n != nil {
			when(n.Minimum != "", "minimum")
			when(n.Maximum != "", "maximum")
			when(n.ExclusiveMinimum != "", "exclusiveMinimum", "minimum")
			when(n.ExclusiveMaximum != "", "exclusiveMaximum", "maximum")
			when(n.MultipleOf != "", "multipleOf")
			when(n.Format != "", "format")
		}
		if s := f.Text; s != nil {
			when(s.MinLength > 0, "minLength")
			when(s.MaxLength >= 0, "maxLength")
			when(s.Pattern != "", "pattern")
			when(s.Format != "", "format")
			for _, k := range s.Content {
				add(k.At, k.Name)
			}
		}
		if a := f.Array; a != nil {
			when(a.Prefix != nil, "prefixItems", "items")
			when(a.Items != nil, "items", "additionalItems")
			when(a.MinItems > 0, "minItems")
			when(a.MaxItems >= 0, "maxItems")
			when(a.Unique, "uniqueItems")
		}
		if o := f.Object; o != nil {
			add(f.At, "properties")
			when(o.Additional != nil, "additionalProperties")
			when(o.MinProperties > 0, "minProperties")
			when(o.MaxProperties >= 0, "maxProperties")
			for _, p := range o.Properties {
				when(p.Required, "required")
			}
		}
		when(f.Notes.Title != "", "title")
		when(f.Notes.Description != "", "description")
		when(f.Notes.Default != nil, "default")
		when(f.Notes.Examples != nil, "examples", "example")
		for _, k := range append(f.Notes.Others, f.Rest...) {
			add(k.At, k.Name)
		}
	})
	for _, c := range d.Changes {
		if c.Keyword != "$defs" && c.Keyword != "definitions" {
			add(c.At, c.Keyword)
		}
	}
	return all
}

// inside has the keywords that hold schemas: alone, in a list, or by name.
var inside = map[string]string{
	"additionalProperties": "alone", "items": "alone or list", "additionalItems": "alone", "propertyNames": "alone", "not": "alone",
	"unevaluatedProperties": "alone", "allOf": "list", "anyOf": "list", "oneOf": "list", "prefixItems": "list",
	"properties": "table", "patternProperties": "table", "$defs": "table", "definitions": "table",
}

// untold lists the keywords of a schema that a document does not account for:
// neither itself nor one that holds it. Definitions that nothing refers to are
// let pass.
func untold(v any, at string, told map[string]bool) []string {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	var missing []string
	for name, value := range object {
		here := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if name != "$defs" && name != "definitions" {
			if !told[here] {
				missing = append(missing, here)
				continue
			}
		}
		switch value := value.(type) {
		case []any:
			if strings.Contains(inside[name], "list") {
				for i, item := range value {
					missing = append(missing, untold(item, fmt.Sprint(here, "/", i), told)...)
				}
			}
		case map[string]any:
			switch inside[name] {
			case "alone", "alone or list":
				missing = append(missing, untold(value, here, told)...)
			case "table":
				for key, item := range value {
					below := here + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
					missing = append(missing, untold(item, below, told)...)
				}
			}
		}
	}
	sort.Strings(missing)
	return missing
}

// notCovered drops the pointers that are covered from above: what holds them is
// merged, or kept as it is written.
func notCovered(missing []string, d *form.Document, raw []byte) []string {
	covers := map[string]bool{}
	for _, c := range d.Changes {
		if c.Keyword != "$defs" && c.Keyword != "definitions" {
			covers[c.At+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(c.Keyword)] = true
		}
	}
	reached := map[string]bool{}
	forms(d, func(f *form.Form) {
		for _, k := range f.Rest {
			covers[k.At+"/"+k.Name] = true
		}
		reached[f.At] = true
	})
	var left []string
next:
	for _, p := range missing {
		for i := range p {
			if i > 0 && p[i] == '/' && covers[p[:i]] {
				continue next
			}
		}
		if parts := strings.SplitN(p, "/", 4); len(parts) == 4 && (parts[1] == "$defs" || parts[1] == "definitions") {
			if !refersTo(raw, parts[2]) || strings.Contains(fmt.Sprint(d.Changes), "refers to itself") {
				continue
			}
		}
		left = append(left, p)
	}
	return left
}

// refersTo says that a schema may refer to a definition from outside.
func refersTo(raw []byte, name string) bool {
	return strings.Contains(string(raw), `"#/$defs/`+name+`"`) || strings.Contains(string(raw), `"#/definitions/`+name+`"`)
}

func checkTold(t *testing.T, name string, raw []byte) {
	t.Helper()
	d := form.Read(schema.MustParse(string(raw)).Raw())
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if left := notCovered(untold(v, "", told(d)), d, raw); len(left) > 0 {
		t.Errorf("%s: nothing tells what became of %v\n%s\n%s\n%v", name, left, raw, text(d), d.Changes)
	}
}

// Every keyword of a schema is in its form, or in a change.
func TestFormTellsAll(t *testing.T) {
	for _, e := range readLines[corpusEntry](t, "testdata/corpus.jsonl") {
		checkTold(t, e.Name, e.Schema)
	}
	for _, e := range readLines[struct {
		Tool   string
		Schema json.RawMessage
	}](t, "testdata/tools.jsonl") {
		checkTold(t, e.Tool, e.Schema)
	}
	for seed := range uint64(300) {
		g := newGenerator(seed, 2)
		s := g.document()
		delete(s, "$defs") // what refers to it is lost
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		checkTold(t, fmt.Sprint("seed ", seed), raw)
	}
}
