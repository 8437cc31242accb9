package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema"
)

// Limits of a form; a user fills in no longer one.
const (
	maxFields   = 30
	maxChoices  = 200
	longestWord = 200 // columns of a title, description or value that is shown
)

// A field is one value of a form.
type field struct {
	name     string
	kind     string
	choices  []choice // nil if the user types the value
	fallback json.RawMessage
	required bool
	schema   *schema.Schema // nil if it cannot be checked

	prompt string
	lines  []string // what is shown before the prompt
}

// A choice is a value that a field may have.
type choice struct {
	value json.RawMessage
	title string
}

// readForm returns the fields of a question, none for an address. It refuses what
// cannot be asked at a terminal.
func readForm(asked *jsontree.Value) ([]*field, error) {
	if asked.Get("mode").IsText("url") {
		if n := len(textOf(asked.Get("url"))); n > longestAddress {
			return nil, fmt.Errorf("its address has %d bytes, at most %d are shown", n, longestAddress)
		}
		return nil, nil
	}
	form := asked.Get("requestedSchema")
	properties := form.Get("properties").Members()
	if len(properties) > maxFields {
		return nil, fmt.Errorf("its form has %d fields, at most %d are asked for", len(properties), maxFields)
	}
	required := form.Get("required").Items()
	var fields []*field
	for _, p := range properties {
		f := newField(p, slices.ContainsFunc(required, func(r *jsontree.Value) bool { return r.IsText(p.Name) }))
		switch {
		case len(f.choices) > maxChoices:
			return nil, fmt.Errorf("its field %q has %d choices, at most %d are shown", jsontree.Clip(p.Name, longestWord), len(f.choices), maxChoices)
		case f.isAnswerable():
			fields = append(fields, f)
		case f.required:
			return nil, fmt.Errorf("its field %q has a type that forms of MCP do not have; use string, number, integer, boolean, or an array of choices", jsontree.Clip(p.Name, longestWord))
		}
	}
	return fields, nil
}

func newField(p *jsontree.Value, required bool) *field {
	f := &field{name: p.Name, kind: textOf(p.Get("type")), required: required, choices: choicesOf(p)}
	if f.kind == "array" {
		f.choices = choicesOf(p.Get("items"))
	}
	f.schema, _ = schema.Parse(p.Raw) // the server checks too
	if d := p.Get("default"); d != nil && (f.schema == nil || f.schema.Validate(d.Raw) == nil) {
		f.fallback = json.RawMessage(d.Raw)
	}
	if text := textOf(p.Get("description")); text != "" {
		f.lines = append(f.lines, clipForeign(text))
	}
	for i, c := range f.choices {
		f.lines = append(f.lines, fmt.Sprintf("%d  %s", i+1, clipForeign(c.title)))
	}
	name := clipForeign(textOf(p.Get("title")))
	if name == "" {
		name = clipForeign(p.Name)
	}
	f.prompt = "  " + name + f.hint() + ": "
	return f
}

// clipForeign returns a foreign text in one line that is not long.
func clipForeign(text string) string {
	return terminal.Cut(cleartext.Printable(jsontree.Clip(text, 4*longestWord)), longestWord)
}

// isAnswerable reports whether a user can type the value.
func (f *field) isAnswerable() bool {
	if f.kind == "array" {
		return f.choices != nil
	}
	return slices.Contains([]string{"string", "number", "integer", "boolean"}, f.kind)
}

// hint describes how the value is typed.
func (f *field) hint() string {
	var hints []string
	switch {
	case f.kind == "array":
		hints = append(hints, "numbers, separated by commas")
	case f.choices != nil:
		hints = append(hints, "a number")
	case f.kind == "boolean":
		hints = append(hints, "y or n")
	case f.kind == "number" || f.kind == "integer":
		hints = append(hints, f.kind)
	}
	switch {
	case f.fallback != nil:
		hints = append(hints, "Enter for "+clipForeign(f.title(f.fallback)))
	case !f.required:
		hints = append(hints, "Enter for none")
	}
	if hints == nil {
		return ""
	}
	return " (" + strings.Join(hints, "; ") + ")"
}

// title returns what a value of the field is called.
func (f *field) title(value json.RawMessage) string {
	if f.kind == "array" {
		var titles []string
		for _, v := range jsontree.Read(value).Items() {
			if len(titles) == 5 {
				titles = append(titles, "…")
				break
			}
			titles = append(titles, f.titleOf(v.Raw))
		}
		return strings.Join(titles, ", ")
	}
	return f.titleOf(value)
}

func (f *field) titleOf(value json.RawMessage) string {
	for _, c := range f.choices {
		if jsontree.Canonical(c.value) == jsontree.Canonical(value) {
			return c.title
		}
	}
	return string(value)
}

// read returns the value that the user typed, nil for none.
func (f *field) read(text string) (json.RawMessage, error) {
	if text == "" && (f.fallback != nil || !f.required) {
		return f.fallback, nil
	}
	value, err := f.encode(text)
	if err != nil || f.schema == nil {
		return value, err
	}
	if err := f.schema.Validate(value); err != nil {
		return nil, err
	}
	return value, nil
}

func (f *field) encode(text string) (json.RawMessage, error) {
	switch {
	case f.kind == "array":
		chosen := []json.RawMessage{}
		for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			value, err := f.choose(one)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, value)
		}
		return json.Marshal(chosen)
	case f.choices != nil:
		return f.choose(text)
	case f.kind == "boolean":
		switch strings.ToLower(text) {
		case "y", "yes", "true":
			return json.RawMessage("true"), nil
		case "n", "no", "false":
			return json.RawMessage("false"), nil
		}
		return nil, errors.New("type y or n")
	case f.kind == "number" || f.kind == "integer":
		if !json.Valid([]byte(text)) {
			return nil, errors.New("type a number")
		}
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}

// choose returns the value that the user means by its title, its text or its number in
// the list.
func (f *field) choose(text string) (json.RawMessage, error) {
	for _, c := range f.choices {
		if strings.EqualFold(text, c.title) || text == string(c.value) || text != "" && strconv.Quote(text) == string(c.value) {
			return c.value, nil
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.choices) {
		return f.choices[n-1].value, nil
	}
	return nil, fmt.Errorf("type a number from 1 to %d", len(f.choices))
}

// choicesOf returns the values that a schema of MCP's forms allows, in all of its
// spellings.
func choicesOf(p *jsontree.Value) (all []choice) {
	names := p.Get("enumNames").Items()
	for i, v := range p.Get("enum").Items() {
		c := newChoice(v, nil)
		if i < len(names) {
			c = newChoice(v, names[i])
		}
		all = append(all, c)
	}
	for _, v := range append(slices.Clip(p.Get("oneOf").Items()), p.Get("anyOf").Items()...) {
		if value := v.Get("const"); value != nil {
			all = append(all, newChoice(value, v.Get("title")))
		}
	}
	return all
}

func newChoice(value, title *jsontree.Value) choice {
	c := choice{json.RawMessage(value.Raw), textOf(title)}
	if c.title == "" {
		c.title = textOf(value)
	}
	if c.title == "" {
		c.title = string(value.Raw)
	}
	return c
}

func textOf(v *jsontree.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}
