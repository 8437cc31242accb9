package redmine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// probeField adds the format of a field and its values, as far as this account can
// find them out.
func probeField(ctx context.Context, s *Toolset, project int, f field) (field, error) {
	if f.Format != "" {
		return f, nil
	}
	me, err := s.account(ctx)
	if err != nil {
		return f, err
	}
	if me.Admin { // who reads all definitions at once
		all, err := definedFields(ctx, s, "")
		if i := slices.IndexFunc(all, func(d field) bool { return d.ID == f.ID }); i >= 0 {
			f.Multiple, f.Format, f.Choices = all[i].Multiple, all[i].Format, all[i].Choices
		}
		return f, err
	}
	known, err := s.formats.get(formatKey(f, project), false, func() (field, error) { return learnFormat(ctx, s, project, f) })
	f.Multiple, f.Format, f.Choices = known.Multiple || f.Multiple, known.Format, known.Choices
	return f, err
}

func formatKey(f field, project int) string { return fmt.Sprintf("%d in %d", f.ID, project) }

// learnFormat finds out what learned remembers, from what Redmine says to conditions.
func learnFormat(ctx context.Context, s *Toolset, project int, f field) (field, error) {
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
	if addPublishedValues(ctx, s, l, f); f.Format == unknownChoice && !l.silent {
		return addSeenValues(ctx, s, l.project, f)
	}
	return nil
}

// addPublishedValues takes the values of a field from the ones that a filter offers. They
// are those that everybody may see.
func addPublishedValues(ctx context.Context, s *Toolset, l rowSource, f *field) {
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

// addSeenValues takes the values of a field from the issues that have it.
func addSeenValues(ctx context.Context, s *Toolset, project int, f *field) error {
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
		f.Format = "bool" // an id is never 0
	}
	return nil
}
