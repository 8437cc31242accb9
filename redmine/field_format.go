package redmine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
func (f field) people() (all []named) {
	for _, c := range f.Choices {
		if n, ok := number(c.Value); ok {
			all = append(all, named{ID: n, Name: c.Label})
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
	return "", toolpost.Retry("Custom field %s [%d] does not accept the value %q. It accepts: %s.", f.Name, f.ID, text, f.taken())
}

// taken lists the values of a field.
func (f field) taken() string {
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
		hint += "; values seen are " + f.taken()
	}
	if yes, err := yesNo("", text); err == nil && yes != text {
		return hint + "; a yes or no field takes " + yes
	}
	if n, err := s.person(ctx, project, text); err == nil {
		hint += fmt.Sprintf("; if it is a field of users, give %d for %s", n.ID, n.Name)
	}
	return hint
}

// ofVersion finds a version of the project, or any by its id.
func ofVersion(ctx context.Context, s *Toolset, project int, text string) (named, error) {
	if project > 0 {
		all, err := s.names(ctx, versions(project), true)
		if err != nil {
			return named{}, err
		}
		n, err := matchName("version", text, all)
		if _, ok := number(text); !ok || len(matchExact(text, all)) > 0 {
			return n, err
		}
	}
	n, ok := number(text)
	if !ok {
		return named{}, toolpost.Retry("Give the project too: every version belongs to a project.")
	}
	err := s.client.get(ctx, fmt.Sprintf("/versions/%d.json", n), nil, &struct{}{})
	return named{ID: n}, explain(err, "version "+text)
}

// learned adds the format of a field and its values, as far as this account can
// find them out.
func learned(ctx context.Context, s *Toolset, project int, f field) (field, error) {
	if f.Format != "" {
		return f, nil
	}
	me, err := s.account(ctx)
	if err != nil || me.Admin { // who reads all definitions at once
		if err == nil {
			f, err = learnFormat(ctx, s, project, f)
		}
		return f, err
	}
	known, err := s.formats.get(formatKey(f, project), func() (field, error) { return learnFormat(ctx, s, project, f) })
	f.Multiple, f.Format, f.Choices = known.Multiple || f.Multiple, known.Format, known.Choices
	return f, err
}

func formatKey(f field, project int) string { return fmt.Sprintf("%d in %d", f.ID, project) }

// learnFormat asks Redmine for what learned remembers.
func learnFormat(ctx context.Context, s *Toolset, project int, f field) (field, error) {
	me, err := s.account(ctx)
	if err != nil {
		return f, err
	}
	if me.Admin {
		all, err := definedFields(ctx, s, "")
		if i := slices.IndexFunc(all, func(d field) bool { return d.ID == f.ID }); i >= 0 {
			f.Multiple, f.Format, f.Choices = all[i].Multiple, all[i].Format, all[i].Choices
		}
		return f, err
	}
	for _, l := range []rowSource{issueRows(), timeRows()} {
		l.project = project
		known, err := l.hasFilter(ctx, s, f.filter())
		if known && err == nil {
			err = learn(ctx, s, l, &f)
		}
		if known || err != nil && status(err) != http.StatusForbidden { // who may not list can learn nothing
			return f, explain(err, "the format of custom field "+f.Name)
		}
	}
	return f, nil
}

// filter is the name of the field in conditions.
func (f field) filter() string { return fmt.Sprintf("cf_%d", f.ID) }

// learn finds out the format of a field from what Redmine says to conditions on it.
func learn(ctx context.Context, s *Toolset, l rowSource, f *field) error {
	name := f.filter()
	text, err := l.complains(ctx, s, url.Values{name: {"~"}}) // a list would take it for a value
	if err != nil {
		return err
	}
	if !text {
		return learnChoice(ctx, s, l, f)
	}
	f.Format = "string"
	for _, try := range []struct{ value, format string }{{"x", "float"}, {"1.5", "int"}, {"1", "date"}} {
		wrong, err := l.complains(ctx, s, encodeConditions([]condition{{name, "=", []string{try.value}}}))
		if err != nil || !wrong {
			return err
		}
		f.Format = try.format
	}
	return nil
}

// learnChoice finds out the format of a field that takes only some values.
func learnChoice(ctx context.Context, s *Toolset, l rowSource, f *field) error {
	version, err := l.hasFilter(ctx, s, f.filter()+".due_date")
	switch {
	case err != nil:
		return err
	case version:
		f.Format = "version"
		return nil
	}
	f.Format = unknownChoice
	if published(ctx, s, l, f); f.Format == unknownChoice && !l.silent {
		return seen(ctx, s, l.project, f)
	}
	return nil
}

// published takes the values of a field from the ones that a filter offers. They
// are those that everybody may see.
func published(ctx context.Context, s *Toolset, l rowSource, f *field) {
	query := url.Values{"type": {l.kind}, "name": {f.filter()}}
	if l.project > 0 {
		query.Set("project_id", strconv.Itoa(l.project))
	}
	var offered []json.RawMessage
	if s.client.get(ctx, "/queries/filter.json", query, &offered) != nil || len(offered) == 0 {
		return // they are not for everybody
	}
	all, ranked := offeredChoices(offered)
	switch {
	case len(all) == 0:
		return
	case ranked:
		f.Format = "user"
	case len(all) == 2 && all[0].Value == "1" && all[1].Value == "0":
		f.Format = "bool"
	case all[0].Label == all[0].Value:
		f.Format = "list"
	case len(all) > 1: // one may be the anonymous user
		f.Format = "enumeration"
	}
	f.Choices = all
}

// offeredChoices are the values that a filter offers, and whether some say more, such as
// whether a user is active.
func offeredChoices(offered []json.RawMessage) (all []choice, ranked bool) {
	for _, raw := range offered {
		var one string
		var parts []string
		switch {
		case json.Unmarshal(raw, &one) == nil:
			all = append(all, choice{one, oneLine(one)})
		case json.Unmarshal(raw, &parts) == nil && len(parts) > 1:
			all, ranked = append(all, choice{parts[1], oneLine(parts[0])}), ranked || len(parts) > 2
		}
	}
	return all, ranked
}

// seen takes the values of a field from the issues that have it.
func seen(ctx context.Context, s *Toolset, project int, f *field) error {
	some, err := newestIssues(ctx, s, project, 0, 100)
	if err != nil {
		return err
	}
	f.Choices = nil
	for _, i := range some {
		for _, has := range i.CustomFields {
			if has.ID != f.ID {
				continue
			}
			for _, v := range has.values() {
				if c := (choice{Value: v}); !slices.Contains(f.Choices, c) {
					f.Choices = append(f.Choices, c)
				}
			}
		}
	}
	other := func(c choice) bool { return c.Value != "0" && c.Value != "1" }
	if slices.Contains(f.Choices, choice{Value: "0"}) && !slices.ContainsFunc(f.Choices, other) {
		f.Format = "bool" // 0 is no id
	}
	return nil
}
