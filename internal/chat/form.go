package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/schema"
)

// A field is one value of a form.
type field struct {
	kind     string
	choices  []choice // nil if the user types the value
	fallback json.RawMessage
	required bool
	schema   *schema.Schema // nil if it cannot be checked

	prompt string
	lines  []string // what is shown before the prompt
}

// A choice is a value that a field may have.
type choice struct{ value, title string }

func newField(p *jsontree.Value, required bool) *field {
	f := &field{kind: textOf(p.Get("type")), required: required, choices: choicesOf(p)}
	if f.kind == "array" {
		f.choices = choicesOf(p.Get("items"))
	}
	if d := p.Get("default"); d != nil {
		f.fallback = json.RawMessage(d.Raw)
	}
	f.schema, _ = schema.Parse(p.Raw) // the server checks too
	name := terminal.Printable(textOf(p.Get("title")))
	if name == "" {
		name = terminal.Printable(p.Name)
	}
	if text := textOf(p.Get("description")); text != "" {
		f.lines = append(f.lines, terminal.Printable(text))
	}
	for i, c := range f.choices {
		if i == mostShown {
			f.lines = append(f.lines, fmt.Sprintf("… %d more; type the value", len(f.choices)-i))
			break
		}
		f.lines = append(f.lines, fmt.Sprintf("%d  %s", i+1, terminal.Printable(c.title)))
	}
	f.prompt = "  " + name + f.hint() + ": "
	return f
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
		hints = append(hints, "Enter for "+terminal.Printable(f.titles(string(f.fallback))))
	case !f.required:
		hints = append(hints, "Enter for none")
	}
	if hints == nil {
		return ""
	}
	return " (" + strings.Join(hints, "; ") + ")"
}

// titles replaces the values of choices in a default by their titles.
func (f *field) titles(fallback string) string {
	for _, c := range f.choices {
		fallback = strings.ReplaceAll(fallback, strconv.Quote(c.value), strconv.Quote(c.title))
	}
	return fallback
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
	if err := f.schema.Validator().Validate(value); err != nil {
		return nil, err
	}
	return value, nil
}

func (f *field) encode(text string) (json.RawMessage, error) {
	switch {
	case f.kind == "array":
		chosen := []string{}
		for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			value, err := f.choose(one)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, value)
		}
		return json.Marshal(chosen)
	case f.choices != nil:
		value, err := f.choose(text)
		if err != nil {
			return nil, err
		}
		return json.Marshal(value)
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

// choose returns the value that the user means by its number, title or text.
func (f *field) choose(text string) (string, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.choices) {
		return f.choices[n-1].value, nil
	}
	for _, c := range f.choices {
		if strings.EqualFold(text, c.value) || strings.EqualFold(text, c.title) {
			return c.value, nil
		}
	}
	return "", fmt.Errorf("type a number from 1 to %d", len(f.choices))
}

// choicesOf returns the values that a schema of MCP's forms allows, in all of its
// spellings.
func choicesOf(p *jsontree.Value) (all []choice) {
	names := p.Get("enumNames").Items()
	for i, v := range p.Get("enum").Items() {
		c := choice{v.Text, v.Text}
		if i < len(names) {
			c.title = names[i].Text
		}
		all = append(all, c)
	}
	for _, v := range append(p.Get("oneOf").Items(), p.Get("anyOf").Items()...) {
		c := choice{textOf(v.Get("const")), textOf(v.Get("title"))}
		if c.title == "" {
			c.title = c.value
		}
		all = append(all, c)
	}
	return all
}

func textOf(v *jsontree.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}
