package redmine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

// A choice is a value that a field takes, and what people read for it.
type choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// choices are the values that a field takes.
type choices []choice

func (all choices) String() string {
	var values []string
	for _, c := range all {
		if values = append(values, c.Value); c.Label != c.Value && c.Label != "" {
			values[len(values)-1] += " for " + c.Label
		}
	}
	return strings.Join(values, ", ")
}

// unknownChoice is the format of a field that takes only some values, which this
// account cannot learn.
const unknownChoice = "choice"

// wire is what Redmine wants for a value as people write it.
func (f field) wire(ctx context.Context, s *Toolset, project int, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch f.Format {
	case "bool":
		return yesNo("custom field "+f.Name, text)
	case "list", "enumeration":
		return f.choose(text)
	case "user":
		if offered := f.people(); len(matchExact(text, offered)) > 0 {
			n, err := matchName("person", text, offered)
			return strconv.Itoa(n.ID), err
		}
		n, err := s.person(ctx, project, text)
		return strconv.Itoa(n.ID), err
	case "version":
		n, err := ofVersion(ctx, s, project, text)
		return strconv.Itoa(n.ID), err
	case "date":
		return date(text)
	case "int", "float":
		return numeral("custom field "+f.Name, text, f.Format == "float")
	case unknownChoice:
		return f.guess(text), nil
	}
	return text, nil
}

// people are those that a field of persons offers.
func (f field) people() (all []idName) {
	for _, c := range f.Choices {
		if n, ok := number(c.Value); ok {
			all = append(all, idName{ID: n, Name: c.Label})
		}
	}
	return all
}

// choose finds a value of a list.
func (f field) choose(text string) (string, error) {
	for _, same := range []func(c choice) bool{
		func(c choice) bool { return c.Value == text || c.Label == text },
		func(c choice) bool { return strings.EqualFold(c.Value, text) || strings.EqualFold(c.Label, text) },
	} {
		if i := slices.IndexFunc(f.Choices, same); i >= 0 {
			return f.Choices[i].Value, nil
		}
	}
	return "", toolpost.Retry.Errorf("Custom field %s [%d] does not accept the value %q. It accepts: %s.", f.Name, f.ID, text, f.listValues())
}

// listValues lists the values of a field.
func (f field) listValues() string {
	var all []string
	for i, c := range f.Choices {
		if i == 40 {
			all = append(all, fmt.Sprintf("and %d more", len(f.Choices)-i))
			break
		}
		if c.Label == "" || c.Label == c.Value {
			all = append(all, c.Value)
		} else {
			all = append(all, fmt.Sprintf("%s [%s]", c.Label, c.Value))
		}
	}
	return strings.Join(all, ", ")
}

// guess takes a value that was seen, in any case, or else the text as it is.
func (f field) guess(text string) string {
	for _, c := range f.Choices {
		if strings.EqualFold(c.Value, text) {
			return c.Value
		}
	}
	return text
}

// hint says what to write if Redmine refuses text and this account cannot learn
// why.
func (f field) hint(ctx context.Context, s *Toolset, project int, text string) string {
	if f.Format != unknownChoice && f.Format != "" {
		return ""
	}
	hint := fmt.Sprintf("Redmine does not show this account which values custom field %s [%d] accepts", f.Name, f.ID)
	if len(f.Choices) > 0 {
		hint += "; values seen are " + f.listValues()
	}
	if yes, err := yesNo("", text); err == nil && yes != text {
		return hint + "; a yes or no field takes " + yes
	}
	if n, err := s.person(ctx, project, text); err == nil {
		hint += fmt.Sprintf("; if it is a field of users, give %d for %s", n.ID, n.Name)
	}
	return hint
}
