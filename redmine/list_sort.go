package redmine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// sort sets the order, by some of the columns or by custom fields, with commas
// between.
func (q *listQuery) sort(text, columns string) {
	var by []string
	known := strings.Split(columns, ", ")
	for _, part := range strings.Split(text, ",") {
		name, direction := sortOrder(strings.TrimSpace(part))
		if name == "" || q.err != nil {
			continue
		}
		if !slices.Contains([]string{"", "asc", "desc"}, direction) {
			q.fail(toolpost.Retry.Errorf("%q is not a sort order; write asc or desc after the colon.", direction))
		}
		column := strings.TrimSuffix(q.alias(name), "_id")
		switch {
		case slices.Contains(known, name):
		case slices.Contains(known, column):
			name = column
		default:
			name = sortField(q, name, columns)
		}
		by = append(by, strings.TrimSuffix(name+":"+direction, ":"))
	}
	q.set("sort", strings.Join(by, ","))
}

// sortOrder parts a column from its direction: updated_on:desc, -updated_on or
// updated_on desc.
func sortOrder(text string) (name, direction string) {
	name, direction, _ = strings.Cut(text, ":")
	if last := strings.LastIndex(name, " "); direction == "" && last > 0 {
		if word := sortDirection(name[last+1:]); word == "asc" || word == "desc" {
			name, direction = strings.TrimSpace(name[:last]), word
		}
	}
	for sign, meant := range map[string]string{"-": "desc", "+": "asc"} {
		if after, found := strings.CutPrefix(name, sign); found && direction == "" {
			return strings.TrimSpace(after), meant
		}
	}
	return name, sortDirection(direction)
}

func sortDirection(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	return cmp.Or(map[string]string{"ascending": "asc", "descending": "desc"}[word], word)
}

// sortField is the column of a custom field.
func sortField(q *listQuery, name, columns string) string {
	fields, err := q.fields()
	q.fail(err)
	f, err := pickField(strings.TrimPrefix(name, "cf_"), fields)
	switch {
	case err != nil:
		q.fail(toolpost.Retry.Errorf("Cannot sort by %q; the columns are %s, each with :asc or :desc after it, and custom fields: %v", name, columns, err))
	case f.Multiple:
		q.fail(toolpost.Retry.Errorf("Redmine cannot sort by %s, which has several values; choose another column.", f.Name))
	}
	q.by = append(q.by, f)
	return f.filter()
}

// noteUnsorted remarks that a list is not sorted by a custom field which none of its
// rows has: Redmine ignores it then.
func noteUnsorted[T any](q *listQuery, rows []T) {
	for _, by := range q.by {
		if len(rows) > 1 && !slices.ContainsFunc(rows, func(r T) bool {
			return slices.ContainsFunc(customFieldsOf(&r), func(f field) bool { return f.ID == by.ID })
		}) {
			q.told = append(q.told, fmt.Sprintf("No row has the custom field %s here, so Redmine did not sort by it.", by.Name))
		}
	}
}
