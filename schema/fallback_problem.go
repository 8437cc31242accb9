package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A translator tells the errors of the full validator as problems.
type translator struct {
	doc   *value // the schema
	value *value
	found *ValidationError
}

func (t *translator) translate(e *jsonschema.ValidationError) {
	var all []Problem
	t.collect(e, &all)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Expected, b.Expected))
	})
	for _, p := range slices.CompactFunc(all, func(a, b Problem) bool { return a.Pointer == b.Pointer && a.Expected == b.Expected }) {
		t.found.add(p)
	}
}

// collect gathers the problems at the leaves of e. Of a union it takes the
// branch with the fewest, if one stands out.
func (t *translator) collect(e *jsonschema.ValidationError, all *[]Problem) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		*all = append(*all, t.union(e)...)
		return
	case *kind.Contains, *kind.MinContains, *kind.Not:
	case *kind.PropertyNames:
	default:
		for _, cause := range e.Causes {
			t.collect(cause, all)
		}
		if len(e.Causes) > 0 {
			return
		}
	}
	*all = append(*all, t.leaf(e)...)
}

// union tells why no branch of e holds: by the closest one, or by what each
// of them misses.
func (t *translator) union(e *jsonschema.ValidationError) []Problem {
	var best []Problem
	var misses []string
	tie := false
	for _, cause := range e.Causes {
		var found []Problem
		t.collect(cause, &found)
		if len(found) == 0 {
			continue
		}
		if _, wrongType := leafOf(cause).ErrorKind.(*kind.Type); wrongType && len(e.Causes) > 1 && len(leafOf(cause).InstanceLocation) == len(e.InstanceLocation) {
			misses = append(misses, found[0].Expected)
			continue // the branch is for another type
		}
		misses = append(misses, found[0].missed())
		switch {
		case best == nil || len(found) < len(best):
			best, tie = found, false
		case len(found) == len(best):
			tie = true
		}
	}
	if best != nil && !tie {
		return best
	}
	p := t.leaf(e)[0]
	if len(misses) > 0 {
		p.Expected = clip(strings.Join(misses, " or "), 240)
	}
	return []Problem{p}
}

func (p Problem) missed() string {
	if strings.HasPrefix(p.Got, "nothing:") {
		return "object with " + strconv.Quote(p.Pointer[strings.LastIndexByte(p.Pointer, '/')+1:])
	}
	return p.Expected
}

func leafOf(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	return e
}

// leaf makes problems of one error, several where it names several properties.
func (t *translator) leaf(e *jsonschema.ValidationError) []Problem {
	at := joinPointer(e.InstanceLocation)
	var all []Problem
	members := func(names []string, expected, got string, valid []string) []Problem {
		slices.Sort(names)
		for _, name := range names {
			p := Problem{Pointer: at + "/" + escapePointer(name), Expected: expected, Got: got}
			if len(valid) > 0 {
				p.Valid = nearest(name, valid)
			}
			all = append(all, p)
		}
		return all
	}
	switch k := e.ErrorKind.(type) {
	case *kind.PropertyNames:
		at = t.holder(e.InstanceLocation, k.Property) + "/" + escapePointer(k.Property)
		return []Problem{{Pointer: at, Expected: "another property name", Got: "this one, which is not allowed"}}
	case *kind.Required:
		return members(k.Missing, "a value", "nothing: the property is required", nil)
	case *kind.DependentRequired:
		return members(k.Missing, "a value", "nothing: it is required together with "+strconv.Quote(k.Prop), nil)
	case *kind.Dependency:
		return members(k.Missing, "a value", "nothing: it is required together with "+strconv.Quote(k.Prop), nil)
	case *kind.AdditionalProperties:
		return members(k.Properties, "no such property", "unknown property", t.unknown(e))
	case *kind.FalseSchema:
		if t.isUnevaluated(e.SchemaURL) {
			return []Problem{{Pointer: at, Expected: "no such property or item", Got: "one that no part of the schema declares"}}
		}
	}
	got := "nothing"
	if v := t.value.at(at); v != nil {
		got = shorten(v)
	}
	return []Problem{{Pointer: at, Expected: t.expected(e), Got: got}}
}

// holder returns the pointer of the object that has a wrong name. The full
// validator may overwrite the path of such an error, but not its length.
func (t *translator) holder(path []string, name string) string {
	if at := joinPointer(path); t.value.at(at).get(name) != nil {
		return at
	}
	var find func(v *value, at string, depth int) (string, bool)
	find = func(v *value, at string, depth int) (string, bool) {
		if depth == 0 {
			return at, v.get(name) != nil
		}
		for i, kid := range v.kids {
			token := kid.name
			if v.kind == KindArray {
				token = strconv.Itoa(i)
			}
			if found, ok := find(kid, at+"/"+escapePointer(token), depth-1); ok {
				return found, true
			}
		}
		return "", false
	}
	at, _ := find(t.value, "", len(path))
	return at
}

func (t *translator) isUnevaluated(url string) bool {
	return strings.HasSuffix(url, "/unevaluatedProperties") || strings.HasSuffix(url, "/unevaluatedItems")
}

// schemaAt returns the schema of that URL, nil if it is not in the document's
// own resource.
func schemaAt(doc *value, at string) *value {
	base, fragment, _ := strings.Cut(at, "#")
	if id := doc.get("$id"); base != schemaURL && (id == nil || base != strings.TrimSuffix(id.text, "#")) {
		return nil
	}
	pointer, ok := localRef("#" + fragment)
	if !ok {
		return nil
	}
	return doc.at(pointer)
}

// unknown names the properties and patterns of the schema that allows no others.
func (t *translator) unknown(e *jsonschema.ValidationError) (valid []string) {
	s := schemaAt(t.doc, e.SchemaURL)
	if s == nil {
		return nil
	}
	if properties := s.get("properties"); properties != nil {
		for _, p := range properties.kids {
			valid = append(valid, p.name)
		}
	}
	if patterns := s.get("patternProperties"); patterns != nil {
		for _, p := range patterns.kids {
			valid = append(valid, "any that matches "+p.name)
		}
	}
	return valid
}

// expected says what the schema asks for, its numbers as they are written there.
func (t *translator) expected(e *jsonschema.ValidationError) string {
	if number := expectedNumber(e.ErrorKind); number != "" {
		if s := schemaAt(t.doc, e.SchemaURL); s != nil {
			if k := s.get(e.ErrorKind.KeywordPath()[0]); k != nil {
				return number + string(k.raw)
			}
		}
	}
	return expectedBy(e.ErrorKind)
}

// expectedBy says what the keyword that failed asks for.
func expectedBy(k jsonschema.ErrorKind) string {
	if w := cmp.Or(expectedCount(k), expectedNumber(k)+numberOf(k)); w != "" {
		return w
	}
	switch k := k.(type) {
	case *kind.Type:
		return strings.Join(k.Want, " or ")
	case *kind.Enum:
		return clip("one of "+list(k.Want), 240)
	case *kind.Const:
		return clip(list([]any{k.Want}), 240)
	case *kind.Pattern:
		return "string matching " + clip(k.Want, 120)
	case *kind.UniqueItems:
		return fmt.Sprintf("unique items (items %d and %d are equal)", k.Duplicates[0], k.Duplicates[1])
	case *kind.AnyOf:
		return "a value that matches one of the schema's alternatives"
	case *kind.OneOf:
		return "a value that matches exactly one of the schema's alternatives"
	case *kind.Not:
		return "another value; this one is excluded"
	case *kind.FalseSchema:
		return "nothing: no value is allowed here"
	}
	return fmt.Sprintf("a value that satisfies %s", strings.Join(k.KeywordPath(), "/"))
}

// expectedNumber begins what a bound asks for; the bound follows.
func expectedNumber(k jsonschema.ErrorKind) string {
	switch k.(type) {
	case *kind.Minimum:
		return "number from "
	case *kind.Maximum:
		return "number up to "
	case *kind.ExclusiveMinimum:
		return "number above "
	case *kind.ExclusiveMaximum:
		return "number below "
	case *kind.MultipleOf:
		return "number that is a multiple of "
	}
	return ""
}

func numberOf(k jsonschema.ErrorKind) string {
	var r *big.Rat
	switch k := k.(type) {
	case *kind.Minimum:
		r = k.Want
	case *kind.Maximum:
		r = k.Want
	case *kind.ExclusiveMinimum:
		r = k.Want
	case *kind.ExclusiveMaximum:
		r = k.Want
	case *kind.MultipleOf:
		r = k.Want
	default:
		return ""
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func expectedCount(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "string" + span{k.Want, -1}.words("character")
	case *kind.MaxLength:
		return "string" + span{0, k.Want}.words("character")
	case *kind.MinItems:
		return "array" + span{k.Want, -1}.words("item")
	case *kind.MaxItems:
		return "array" + span{0, k.Want}.words("item")
	case *kind.MinProperties:
		return "object" + span{k.Want, -1}.words("property")
	case *kind.MaxProperties:
		return "object" + span{0, k.Want}.words("property")
	case *kind.AdditionalItems:
		return fmt.Sprintf("array with %d fewer items", k.Count)
	case *kind.Contains:
		return "array that contains a matching item"
	case *kind.MinContains:
		return fmt.Sprintf("array that contains at least %d matching items", k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("array that contains at most %d matching items", k.Want)
	}
	return ""
}

// list writes values as JSON, with commas.
func list(values []any) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		raw, err := json.Marshal(v)
		if err != nil || b.Len() > 240 {
			b.WriteString("…")
			break
		}
		b.Write(raw)
	}
	return b.String()
}
