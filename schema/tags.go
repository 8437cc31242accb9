package schema

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A keyword is a JSON Schema keyword as struct tags give it.
type keyword struct {
	name   string
	values []string // more than one only for enum and example
}

// parseTags returns the keywords of a field: those of the jsonschema tag, then
// those of the short tags. Required is apart: it is for the struct to say.
func parseTags(tag reflect.StructTag) (required bool, words []keyword, err error) {
	if err := checkTagNames(tag); err != nil {
		return false, nil, err
	}
	if words, err = parseTag(tag.Get("jsonschema")); err != nil {
		return false, nil, fmt.Errorf("jsonschema tag: %w", err)
	}
	for _, short := range shortTags {
		text, ok := tag.Lookup(short)
		if !ok {
			continue
		}
		values := []string{text}
		if short == "enum" {
			values = splitCommas(text)
		}
		for _, v := range values {
			if words, err = addKeyword(words, canonical(short), v); err != nil {
				return false, nil, err
			}
		}
	}
	if i := slices.IndexFunc(words, func(k keyword) bool { return k.name == "required" }); i >= 0 {
		text := words[i].values[0]
		if _, err := readFlag(nil, text); err != nil {
			return false, nil, fmt.Errorf("required %q %w", text, err)
		}
		required, words = text == "true", slices.Delete(words, i, i+1)
	}
	return required, words, nil
}

var shortTags = []string{"desc", "description", "jsonschema_description", "default", "min", "max", "minlen", "maxlen", "pattern", "format", "example", "enum"}

// foreignTags are tags of other libraries and the keywords of JSON Schema that
// have a short tag here, or none. Nothing would read them.
var foreignTags = map[string]string{
	"minimum": `min:"…"`, "maximum": `max:"…"`,
	"minLength": `minlen:"…"`, "maxLength": `maxlen:"…"`, "minlength": `minlen:"…"`, "maxlength": `maxlen:"…"`,
	"minItems": `minlen:"…"`, "maxItems": `maxlen:"…"`, "minitems": `minlen:"…"`, "maxitems": `maxlen:"…"`,
	"minProperties": `minlen:"…"`, "maxProperties": `maxlen:"…"`,
	"doc": `desc:"…"`, "jsonschema_extras": `jsonschema:"…"`, "examples": `example:"…"`, "enums": `enum:"a,b"`, "regexp": `pattern:"…"`,
	"const":            `enum:"…" with one value`,
	"exclusiveMinimum": `jsonschema:"exclusiveMinimum=…"`, "exclusiveMaximum": `jsonschema:"exclusiveMaximum=…"`,
	"multipleOf": `jsonschema:"multipleOf=…"`, "title": `jsonschema:"title=…"`, "uniqueItems": `jsonschema:"uniqueItems"`,
	"readOnly": `jsonschema:"readOnly"`, "writeOnly": `jsonschema:"writeOnly"`, "deprecated": `jsonschema:"deprecated"`,
	"required": `jsonschema:"required"`, "nullable": "a pointer as the type of the field",
}

// tagNames matches the names in a struct tag.
var tagNames = lazyregexp.New(`([^ ":]+):"(?:[^"\\]|\\.)*"`)

// checkTagNames returns an error that names the right tag for one that looks
// right and would have no effect.
func checkTagNames(tag reflect.StructTag) error {
	for _, match := range tagNames.FindAllStringSubmatch(string(tag), -1) {
		name := match[1]
		if right := foreignTags[name]; right != "" {
			return fmt.Errorf("the tag %s has no effect; write %s", name, right)
		}
		if i := slices.IndexFunc(shortTags, func(short string) bool { return short != name && strings.EqualFold(short, name) }); i >= 0 {
			return fmt.Errorf("the tag %s has no effect; write %s", name, shortTags[i])
		}
	}
	return nil
}

// canonical is the keyword that a short tag means. The lengths are settled
// when the type is known.
func canonical(short string) string {
	switch short {
	case "desc", "jsonschema_description":
		return "description"
	case "min":
		return "minimum"
	case "max":
		return "maximum"
	}
	return short
}

// parseTag reads a jsonschema tag. It is a list of keywords if it begins like
// one, else a description.
func parseTag(tag string) (words []keyword, err error) {
	if tag == "" {
		return nil, nil
	}
	if tag == "-" {
		return nil, errors.New(`"-" leaves nothing out, because the field is still read; write json:"-"`)
	}
	parts := splitCommas(tag)
	if !isKeywordList(parts) {
		return []keyword{{"description", []string{tag}}}, nil
	}
	for _, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		switch {
		case name == "nullable":
			return nil, errors.New("nullable is not supported; results may be null where the field is a pointer, and null for an optional argument is read as left out")
		case slices.Contains(flags, name) && !ok:
			value = "true"
		case !isKeyword(name) && len(words) > 0 && words[len(words)-1].name == "description":
			return nil, fmt.Errorf(`the description ends at the comma before %q; write the description as desc:"…"`, name)
		case !isKeyword(name):
			return nil, fmt.Errorf(`%q is not a keyword; a comma in a value is written \\, and a text that begins like a keyword goes into the tag desc`, name)
		case !ok:
			return nil, fmt.Errorf("%s has no value; write %s=a value", name, name)
		}
		if words, err = addKeyword(words, name, value); err != nil {
			return nil, err
		}
	}
	return words, nil
}

func addKeyword(words []keyword, name, value string) ([]keyword, error) {
	i := slices.IndexFunc(words, func(k keyword) bool { return k.name == name })
	switch {
	case i < 0:
		return append(words, keyword{name, []string{value}}), nil
	case name != "enum" && name != "example":
		return nil, fmt.Errorf("%s is given twice", name)
	}
	if !slices.Contains(words[i].values, value) { // two tags may list the same values
		words[i].values = append(words[i].values, value)
	}
	return words, nil
}

// flags are the keywords that need no value. Other libraries have nullable.
var flags = []string{"required", "uniqueItems", "readOnly", "writeOnly", "deprecated", "nullable"}

var assignment = lazyregexp.New(`^ *[A-Za-z_$][A-Za-z0-9_]*=`)

// isKeywordList distinguishes required,minimum=1 from a text such as "required,
// as it were".
func isKeywordList(parts []string) bool {
	return assignment.MatchString(parts[0]) || slices.Contains(flags, parts[0]) &&
		(len(parts) == 1 || assignment.MatchString(parts[1]) || slices.Contains(flags, strings.TrimSpace(parts[1])) || isKeyword(strings.TrimSpace(parts[1])))
}

// splitCommas splits at commas; \, is a comma that does not split.
func splitCommas(s string) []string {
	parts, part := []string(nil), strings.Builder{}
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], `\,`):
			part.WriteByte(',')
			i++
		case s[i] == ',':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(s[i])
		}
	}
	return append(parts, part.String())
}
