package redmine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// subproject narrows the project. Without one Redmine ignores it.
func subproject(q *issueQuery, text string) {
	switch {
	case text == "" || q.err != nil:
	case q.in == 0:
		q.fail(toolpost.Retry("Give the project too: a subproject is one of its own."))
	case text == "*" || text == "!*":
		q.set("subproject_id", text)
	default:
		n, err := q.s.project(q.ctx, text)
		q.fail(err)
		q.set("project_id", fmt.Sprint(n.ID)) // what it has is what is asked for
	}
}

// alone refuses conditions beside a saved query: Redmine would ignore them.
func alone(q *issueQuery, query string) {
	for name := range q.values {
		if query != "" && !slices.Contains([]string{"project_id", "query_id", "sort", "include"}, name) {
			q.fail(toolpost.Retry("Redmine ignores %s beside a saved query; give one of them.", name))
		}
	}
}

// knownFilters are those of Redmine 5.0 that have no property of their own.
var knownFilters = []string{
	"description", "notes", "estimated_hours", "spent_time", "done_ratio", "is_private", "attachment", "attachment_description",
	"updated_by", "last_updated_by", "member_of_group", "assigned_to_role", "fixed_version.due_date", "fixed_version.status",
	"project.status", "relates", "duplicates", "duplicated", "blocks", "blocked", "precedes", "follows", "copied_to", "copied_from", "child_id",
	"subject", anySearchable,
}

// anySearchable is known since Redmine 5.1.
const anySearchable = "any_searchable"

func (q *issueQuery) filter(f filter) {
	if q.err != nil {
		return
	}
	name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(f.Field)), " ", "_")
	if name == anySearchable {
		q.fail(since(q.ctx, q.s, v51(), "the filter "+name))
	}
	if err := f.check(); err != nil {
		q.fail(err)
		return
	}
	if slices.Contains(knownFilters, name) {
		if slices.Contains([]string{"updated_by", "last_updated_by"}, name) {
			f.Values = persons(q, f.Values)
		}
		q.set(name, f.condition())
		return
	}
	fields, err := issueFields(q.ctx, q.s, q.in, 0)
	q.fail(err)
	q.field(f, fields, strings.Join(knownFilters, ", "))
}

// field adds a condition on a custom field. Others are what it may be on instead:
// Redmine would ignore it on anything else.
func (q *issueQuery) field(f filter, fields []field, others string) {
	set, err := setFields([]setField{{Name: strings.TrimPrefix(f.Field, "cf_")}}, fields)
	if err != nil {
		q.fail(toolpost.Retry("There is no filter %q. There are %s, and custom fields: %v", f.Field, others, err))
		return
	}
	q.set(fmt.Sprintf("cf_%d", set[0].ID), f.condition())
}

// operators are those of Redmine 5.0.
var operators = []string{
	"=", "!", "~", "!~", "^", "$", ">=", "<=", "><", "!*", "*", "o", "c", "=p", "=!p", "!p", "*o", "!o",
	"t", "ld", "w", "lw", "l2w", "m", "lm", "y", ">t-", "<t-", "><t-", "t-", "<t+", ">t+", "><t+", "t+", "nd", "nw", "nm",
}

// withoutValue are those that stand alone.
var withoutValue = []string{"!*", "*", "o", "c", "*o", "!o", "t", "ld", "w", "lw", "l2w", "m", "lm", "y", "nd", "nw", "nm"}

// check refuses what Redmine would not understand: it then finds everything, or
// nothing.
func (f filter) check() error {
	operator := cmp.Or(f.Operator, "=")
	switch {
	case !slices.Contains(operators, operator):
		return toolpost.Retry("There is no operator %q for a filter; there are %s.", operator, strings.Join(operators, " "))
	case len(f.Values) == 0 && !slices.Contains(withoutValue, operator):
		return toolpost.Retry("The filter %s with %q needs values.", f.Field, operator)
	}
	return nil
}

// persons finds the ids of persons.
func persons(q *issueQuery, all []string) []string {
	var ids []string
	for _, text := range all {
		n, err := q.s.person(q.ctx, q.in, text)
		q.fail(err)
		ids = append(ids, fmt.Sprint(n.ID))
	}
	return ids
}

func (f filter) condition() string {
	return cmp.Or(f.Operator, "=") + strings.Join(f.Values, "|")
}
