package redmine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// nameFields finds what people read for the values of custom fields: names for the
// ids of persons, versions and entries of a list, and yes or no. Redmine has ids
// only, and "Found in: 2" would be read as version 2.
func nameFields(ctx context.Context, s *Toolset, learnIn, project int, fields []field) {
	var reads []func()
	for i := range fields {
		if f := &fields[i]; slices.ContainsFunc(f.values(), isID) {
			reads = append(reads, func() { f.Shown = f.inWords(ctx, s, learnIn, project) })
		}
	}
	runAll(reads...)
}

// isID reports whether a value may be the id of something.
func isID(value string) bool {
	_, err := strconv.Atoi(value)
	return err == nil
}

// inWords are the values as people read them.
func (f field) inWords(ctx context.Context, s *Toolset, learnIn, project int) (shown []string) {
	known, err := probeField(ctx, s, learnIn, f)
	if err != nil {
		known.Format = unknownChoice
	}
	for _, value := range f.values() {
		shown = append(shown, known.inWord(ctx, s, project, value))
	}
	return shown
}

// inWord is one value of a field whose format is known, as people read it.
func (f field) inWord(ctx context.Context, s *Toolset, project int, value string) string {
	for _, c := range f.Choices {
		if c.Value == value && c.Label != "" && c.Label != value && f.Format != "bool" {
			return fmt.Sprintf("%s [%s]", c.Label, value)
		}
	}
	n, _ := strconv.Atoi(value)
	switch f.Format {
	case "bool":
		return map[string]string{"1": "yes", "0": "no"}[value]
	case "user":
		return personName(ctx, s, project, n)
	case "version":
		return versionName(ctx, s, project, n)
	case "enumeration", unknownChoice:
		return fmt.Sprintf("[%s], whose name this account cannot learn", value)
	}
	return value
}

// personName returns the person with an id, with the name if this account sees it.
func personName(ctx context.Context, s *Toolset, project, id int) string {
	if all, err := people(ctx, s, project); err == nil {
		for _, n := range all {
			if n.ID == id {
				return n.String()
			}
		}
	}
	if u, err := userEndpoint().get(ctx, s, userEndpoint().recordPath(id), ""); err == nil {
		return u.idName().String()
	}
	return fmt.Sprintf("user [%d]", id)
}

// versionName returns the version with an id, with the name if this account sees it.
func versionName(ctx context.Context, s *Toolset, project, id int) string {
	if project > 0 {
		if all, err := s.names(ctx, versions(project), false); err == nil {
			for _, n := range all {
				if n.ID == id {
					return n.String()
				}
			}
		}
	}
	if v, err := versionEndpoint().get(ctx, s, versionEndpoint().recordPath(id), ""); err == nil {
		return idName{ID: v.ID, Name: v.Name}.String()
	}
	return fmt.Sprintf("version [%d]", id)
}

// nameChanges does the same for the changes of custom fields in journals.
func nameChanges(ctx context.Context, s *Toolset, i *issue) {
	word := func(f field, text longText) longText {
		if !isID(string(text)) {
			return text
		}
		f.Value = []byte(strconv.Quote(string(text)))
		return longText(strings.Join(f.inWords(ctx, s, i.Project.ID, i.Project.ID), ", "))
	}
	for k := range i.Journals {
		for l := range i.Journals[k].Details {
			d := &i.Journals[k].Details[l]
			at := slices.IndexFunc(i.CustomFields, func(f field) bool { return d.Property == "cf" && d.Name == fmt.Sprint(f.ID) })
			if at >= 0 {
				d.Old, d.New = word(i.CustomFields[at], d.Old), word(i.CustomFields[at], d.New)
			}
		}
	}
}
