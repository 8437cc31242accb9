package redmine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

// A listQuery is the query of a list as it is made. The first failure stays.
type listQuery struct {
	s          *Toolset
	ctx        context.Context
	list       rowSource
	what       string // is listed, such as "open issues"
	filters    map[string]filterSpec
	fields     func() ([]field, error) // custom fields of what is listed
	conditions []condition
	values     url.Values // what is no condition
	empty      []string   // why there may be no rows
	told       []string   // what is to be known of the rows, such as that they may be too few
	by         []field    // custom fields to sort by
	err        error
}

// A filterSpec is what a filter may be asked, and how its values are found.
type filterSpec struct {
	kind filterKind
	find finder
}

// A filter is a condition that has no property of its own.
type filter struct {
	Field    string   `json:"field" desc:"Such as notes or estimated hours or a custom field"`
	Operator string   `json:"operator,omitempty" jsonschema:"default==" desc:"Such as =, !, ~, >=, ><, !* or *"`
	Values   []string `json:"values,omitempty"`
}

func (q *listQuery) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *listQuery) set(name, value string) {
	if value != "" && q.err == nil {
		q.values.Set(name, value)
	}
}

// remark notes what the answer says if there are no rows.
func (q *listQuery) remark(format string, a ...any) {
	q.empty = append(q.empty, fmt.Sprintf(format, a...))
}

// noteMatch notes what a part of a name was taken for.
func (q *listQuery) noteMatch(text string, n idName) {
	if note := takenFor(text, n); note != "" && !slices.Contains(q.told, note) {
		q.told = append(q.told, note)
	}
}

func (q *listQuery) project(text string) {
	if text == "" {
		return
	}
	n, err := q.s.project(q.ctx, text)
	q.fail(err)
	q.noteMatch(text, n)
	q.list.project = n.ID
	q.set("project_id", fmt.Sprint(n.ID))
}

// below has the subprojects of the project counted, also where Redmine's settings
// leave them out.
func (q *listQuery) below() {
	if q.list.project > 0 && !q.has("subproject_id") {
		q.conditions = append(q.conditions, condition{"subproject_id", "*", nil})
	}
}

// addTagged adds the conditions of arguments with a tag filter, which has the separators
// between the values of one.
func (q *listQuery) addTagged(arguments any) {
	eachField(arguments, func(f reflect.StructField, v reflect.Value) {
		if separators := f.Tag.Get("filter"); separators != "" {
			q.addText(jsonName(f), v.String(), separators)
		}
	})
}

// addText adds a condition in one text, if it is not empty, with separators between
// its values.
func (q *listQuery) addText(name, text, separators string) {
	if text = strings.TrimSpace(text); text == "" || q.err != nil {
		return
	}
	spec := q.filters[name]
	operator, rest := spec.kind.split(text)
	operator, rest = splitNot(q, spec, operator, rest)
	values := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(separators, r) })
	if parts := strings.Split(rest, ","); len(parts) > 1 && spec.kind.names() {
		everyPart := !slices.ContainsFunc(parts, func(p string) bool { return !isFound(q, spec, operator, strings.TrimSpace(p)) })
		switch {
		case isFound(q, spec, operator, rest):
			values = []string{rest} // a name with a comma in it
		case everyPart:
			values = parts
		}
	}
	q.where(name, spec, operator, values)
}

// names reports whether the values of a filter are names, of which it takes several.
func (k filterKind) names() bool { return k == kindList || k == kindStatus || k == kindOptional }

// splitNot makes "not me" the operator !, unless something is called so.
func splitNot(q *listQuery, spec filterSpec, operator, text string) (without, rest string) {
	after, found := strings.CutPrefix(strings.ToLower(text), "not ")
	if !found || operator != "=" || !spec.kind.names() || slices.Contains(noValue, strings.ToLower(text)) || isName(q, spec, operator, text) {
		return operator, text
	}
	return "!", strings.TrimSpace(text[len(text)-len(after):])
}

// where adds a condition.
func (q *listQuery) where(name string, spec filterSpec, operator string, values []string) {
	if q.err != nil {
		return
	}
	c := condition{name, cmp.Or(operator, "="), nil}
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			c.values = append(c.values, v)
		}
	}
	c, err := inPeriod(spec.kind, unset(q, spec, c))
	q.fail(err)
	q.fail(spec.kind.fits(c))
	if q.err != nil {
		return
	}
	if q.has(name) {
		q.fail(toolpost.Retry.Errorf("Redmine would ignore one of the two conditions on %s: give only one, for example >< for a range.", name))
		return
	}
	if len(c.values) > 0 {
		c.values, err = spec.find(q, c.operator, c.values)
		q.fail(err)
	}
	q.conditions = append(q.conditions, byMinute(onCalendar(q, c)))
}

// has reports whether there is a condition on something.
func (q *listQuery) has(name string) bool {
	return slices.ContainsFunc(q.conditions, func(c condition) bool { return c.name == name })
}

// filter adds a condition on what has no property of its own, or on a custom field.
func (q *listQuery) filter(f filter) {
	if q.err != nil {
		return
	}
	name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(f.Field)), " ", "_")
	if name == anySearchable {
		q.fail(requireRelease(q.ctx, q.s, v51(), "the filter "+name))
	}
	if spec, ok := q.filters[q.alias(name)]; ok {
		q.where(q.alias(name), spec, f.Operator, f.Values)
		return
	}
	fields, err := q.fields()
	q.fail(err)
	k, err := pickField(strings.TrimPrefix(f.Field, "cf_"), fields)
	if err != nil {
		q.fail(toolpost.Retry.Errorf("There is no filter %q. Choose from %s, or a custom field: %v", f.Field, strings.Join(sortedKeys(q.filters), ", "), err))
		return
	}
	if k.Format == "" && q.err == nil {
		q.fail(explain(learn(q.ctx, q.s, q.list, &k), "the list with these conditions"))
	}
	q.where(k.filter(), specOf(k), f.Operator, f.Values)
}

// alias is the name of a filter in Redmine for what people call it: status_id for
// status.
func (q *listQuery) alias(name string) string {
	name = cmp.Or(map[string]string{
		"assignee": "assigned_to", "assigned": "assigned_to", "version": "fixed_version", "target_version": "fixed_version",
		"created": "created_on", "updated": "updated_on", "closed": "closed_on", "start": "start_date", "due": "due_date",
		"done": "done_ratio", "private": "is_private", "parent_issue": "parent", "id": "issue",
	}[name], name)
	if _, ok := q.filters[name]; !ok {
		if _, ok := q.filters[name+"_id"]; ok {
			return name + "_id"
		}
	}
	return name
}

// specOf is what a custom field may be asked.
func specOf(f field) filterSpec {
	switch f.Format {
	case "date":
		return filterSpec{kindDate, dates}
	case "int":
		return filterSpec{kindNumber, integers}
	case "float":
		return filterSpec{kindNumber, decimals}
	case "user":
		return filterSpec{kindOptional, each(filterPerson)}
	case "list", "bool", "enumeration", "version", unknownChoice:
		return filterSpec{kindOptional, each(func(q *listQuery, text string) (string, error) {
			if hint := f.hint(q.ctx, q.s, q.list.project, text); hint != "" {
				q.remark("%s.", hint)
			}
			return f.wire(q.ctx, q.s, q.list.project, text)
		})}
	}
	return filterSpec{kindLine, texts}
}

// encode returns the query, if Redmine takes all of its conditions: it would ignore
// the others.
func (q *listQuery) encode() (url.Values, error) {
	if q.err == nil {
		q.err = explain(refuseIgnored(q, doubtfulConditions(q)), "the list with these conditions")
	}
	query := encodeConditions(q.conditions)
	maps.Copy(query, q.values)
	return query, q.err
}

// doubtfulConditions are the filters that Redmine may not know, as conditions that are wrong.
func doubtfulConditions(q *listQuery) (all []condition) {
	for _, c := range q.conditions {
		known := c.name == "status_id" || c.name == "subproject_id" || q.list.silent && !strings.HasPrefix(c.name, "cf_")
		if !known {
			all = append(all, condition{c.name, "=", []string{""}})
		}
	}
	return all
}

// refuseIgnored refuses the filters that Redmine does not complain about.
func refuseIgnored(q *listQuery, all []condition) error {
	if len(all) == 0 {
		return nil
	}
	if !q.list.silent {
		n, err := q.list.faults(q.ctx, q.s, encodeConditions(all))
		if err != nil || n == len(all) {
			return err
		}
	}
	for _, c := range all {
		known, err := q.list.hasFilter(q.ctx, q.s, c.name)
		if err != nil {
			return err
		}
		if !known {
			return toolpost.Retry.Errorf("Redmine would ignore the filter %s here: this account may not use it, the project or its trackers do not have it, or it is a custom field that is not marked as a filter. Leave it out.", c.name)
		}
	}
	return nil
}

// remarks are what the answer says of the query, besides its rows.
func remarks(q *listQuery, total int) (all []string) {
	if total == 0 {
		all = q.empty
	}
	return slices.Concat(all, q.told)
}

// bySource finds what is in a source.
func bySource(src func() source) finder {
	return each(func(q *listQuery, text string) (string, error) {
		n, err := q.s.find(q.ctx, src(), text)
		q.noteMatch(text, n)
		return strconv.Itoa(n.ID), err
	})
}

// fixedValues are fixed values, as people write them and as Redmine does.
func fixedValues(pairs ...string) finder {
	return each(func(_ *listQuery, text string) (string, error) {
		var names []string
		for i := 0; i < len(pairs); i += 2 {
			if names = append(names, pairs[i]); strings.EqualFold(text, pairs[i]) || text == pairs[i+1] {
				return pairs[i+1], nil
			}
		}
		return "", toolpost.Retry.Errorf("%q is not one of the values. Choose from %s.", text, strings.Join(names, ", "))
	})
}
