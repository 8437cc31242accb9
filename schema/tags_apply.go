package schema

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/ecmaregexp"
)

// A rule says what a keyword speaks about and how its value is read.
type rule struct {
	kinds jsontree.Kinds
	read  func(d *draft, text string) (jsontext.Value, error)
}

// rules has the keywords that tags may give.
var rules = map[string]rule{
	"description": {jsontree.KindAny, readDescription}, "title": {jsontree.KindAny, readText},
	"default": {jsontree.KindAny, readValue}, "example": {jsontree.KindAny, readValue},
	"readOnly": {jsontree.KindAny, readFlag}, "writeOnly": {jsontree.KindAny, readFlag}, "deprecated": {jsontree.KindAny, readFlag},
	"enum":    {jsontree.KindAny &^ jsontree.KindArray, readValue},
	"minimum": {jsontree.KindNumber, readNumber}, "exclusiveMinimum": {jsontree.KindNumber, readNumber},
	"maximum": {jsontree.KindNumber, readNumber}, "exclusiveMaximum": {jsontree.KindNumber, readNumber},
	"multipleOf": {jsontree.KindNumber, readPositive},
	"format":     {jsontree.KindNumber | jsontree.KindString, readText}, "pattern": {jsontree.KindString, readPattern},
	"minLength": {jsontree.KindString, readCount}, "maxLength": {jsontree.KindString, readCount},
	"minItems": {jsontree.KindArray, readCount}, "maxItems": {jsontree.KindArray, readCount}, "uniqueItems": {jsontree.KindArray, readFlag},
	"minProperties": {jsontree.KindObject, readCount}, "maxProperties": {jsontree.KindObject, readCount},
}

func isKeyword(name string) bool { return name == "required" || rules[name].read != nil }

// tag applies the tags of a field and reports whether they require it.
func (d *draft) tag(tags reflect.StructTag) (required bool, err error) {
	required, words, err := parseTags(tags)
	for i := 0; i < len(words) && err == nil; i++ {
		err = d.apply(words[i])
	}
	return required, err
}

// apply sets a keyword. A keyword that does not apply to an array
// goes to its items.
func (d *draft) apply(k keyword) error {
	name := d.length(k.name)
	r := rules[name]
	if d.kind != 0 && r.kinds&d.kind == 0 {
		if items, ok := d.get("items").(*draft); ok {
			return items.apply(k)
		}
		return fmt.Errorf("%s does not apply to %s", k.name, typeName(d.kind))
	}
	var values []jsontext.Value
	for _, text := range k.values {
		value, err := r.read(d, d.plainNumber(name, text))
		if err == nil {
			err = d.narrows(name, value)
		}
		if err != nil {
			return fmt.Errorf("%s %q %w", k.name, text, err)
		}
		values = append(values, value)
	}
	switch name {
	case "enum":
		d.set(name, values)
	case "example":
		d.set("examples", values)
	default:
		d.set(name, values[0])
	}
	return nil
}

// plainNumber returns the nanoseconds of a text such as 5m that is the value of a
// duration, and any other text as it is.
func (d *draft) plainNumber(keyword, text string) string {
	isValue := rules[keyword].kinds == jsontree.KindNumber || slices.Contains([]string{"default", "enum", "example"}, keyword)
	if number, ok := parseDuration(text); ok && isValue && d.unit == nanoseconds {
		return string(number)
	}
	return text
}

// length is the keyword that minlen and maxlen mean for d.
func (d *draft) length(name string) string {
	what := "Length"
	switch d.kind {
	case jsontree.KindArray:
		what = "Items"
	case jsontree.KindObject:
		what = "Properties"
	}
	switch name {
	case "minlen":
		return "min" + what
	case "maxlen":
		return "max" + what
	}
	return name
}

// narrows refuses a bound beyond what the Go type can hold.
func (d *draft) narrows(name string, value jsontext.Value) error {
	bound, ok := d.get(name).(jsontext.Value)
	if !ok || name != "minimum" && name != "maximum" {
		return nil
	}
	c := jsontree.ParseDecimal(value).Cmp(jsontree.ParseDecimal(bound))
	if name == "minimum" && c < 0 || name == "maximum" && c > 0 {
		return fmt.Errorf("is beyond %s, the %s of the type", bound, name)
	}
	return nil
}

// checkDefault checks the default as arguments will be: it fits the schema,
// and can be read.
func (d *draft) checkDefault(f *field) error {
	value, ok := d.get("default").(jsontext.Value)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(d)
	if err == nil {
		err = compile(raw, false).validate(value)
	}
	if err != nil {
		return fmt.Errorf("default %s does not fit: %w", value, err)
	}
	if f.quoted {
		value = jsontext.Value(jsontree.Read(value).Text)
	}
	if err := stdjson.Unmarshal(value, reflect.New(f.sf.Type).Interface()); err != nil {
		return fmt.Errorf("default %s cannot be read: %w", value, err)
	}
	return nil
}

func quoteText(text string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, text) // the error says that invalid UTF-8 was replaced
	return quoted
}

func readText(_ *draft, text string) (jsontext.Value, error) { return quoteText(text), nil }

func readPattern(_ *draft, text string) (jsontext.Value, error) {
	if _, err := ecmaregexp.Compile(text); err != nil {
		return nil, fmt.Errorf("is not a regular expression: %w", err)
	}
	return quoteText(text), nil
}

// readDescription keeps what a number counts in a text that does not say it.
func readDescription(d *draft, text string) (jsontext.Value, error) {
	if !strings.Contains(text, d.unit) {
		text += " (" + d.unit + ")"
	}
	return quoteText(text), nil
}

func readFlag(_ *draft, text string) (jsontext.Value, error) {
	if text != "true" && text != "false" {
		return nil, errors.New("is not true or false")
	}
	return jsontext.Value(text), nil
}

func readCount(_ *draft, text string) (jsontext.Value, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, errors.New("is not a count")
	}
	return jsontext.Value(strconv.FormatUint(n, 10)), nil
}

func readNumber(_ *draft, text string) (jsontext.Value, error) {
	v := jsontext.Value(text)
	if _, err := strconv.ParseFloat(text, 64); err != nil || !v.IsValid() || v.Kind() != '0' {
		return nil, errors.New("is not a JSON number, or too large")
	}
	return v, nil
}

func readPositive(d *draft, text string) (jsontext.Value, error) {
	v, err := readNumber(d, text)
	if f, _ := strconv.ParseFloat(text, 64); err == nil && f <= 0 {
		return nil, errors.New("is not above 0")
	}
	return v, err
}

// readValue reads a value of the kind that d describes.
func readValue(d *draft, text string) (jsontext.Value, error) {
	if d.kind == jsontree.KindString {
		return quoteText(text), nil
	}
	v := jsontext.Value(text)
	switch kind := readTree(v).Kind; {
	case kind != 0 && (d.kind == 0 || kind&d.kind != 0):
		err := v.Compact()
		return v, err
	case d.kind == 0:
		return quoteText(text), nil
	}
	return nil, fmt.Errorf("is not of type %s", typeName(d.kind))
}
