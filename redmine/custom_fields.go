package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A field is a custom field and its value: a text, a list of texts, or null.
type field struct {
	ID    int             `json:"id"`
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"`
	Shown []string        `json:"-"` // the values as people read them, if that is known

	// Redmine shows the rest to administrators only, in the definition of the field.
	Kind     string   `json:"customized_type,omitempty" row:"%s"`
	Format   string   `json:"field_format,omitempty" row:"%s"`
	Required bool     `json:"is_required,omitempty" row:"required"`
	Multiple bool     `json:"multiple,omitempty" row:"several values"`
	Default  string   `json:"default_value,omitempty" row:"default %s"`
	Choices  choices  `json:"possible_values,omitempty" row:"values: %s"`
	Trackers []idName `json:"trackers,omitempty"`
	Roles    []idName `json:"roles,omitempty" row:"only for %s"` // that alone see it
}

func (f field) String() string { return idName{ID: f.ID, Name: f.Name}.String() }

// values are the texts of the value.
func (f field) values() []string {
	var one string
	if json.Unmarshal(f.Value, &one) == nil {
		if one == "" {
			return nil
		}
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(f.Value, &many) // anything else has none
	return many
}

// fieldsOf shows custom fields that have a value, by name.
func fieldsOf(all []field) map[string]string {
	shown := map[string]string{}
	for _, f := range all {
		v := f.values()
		if len(f.Shown) > 0 {
			v = f.Shown
		}
		if len(v) > 0 {
			shown[f.Name] = strings.Join(v, ", ")
		}
	}
	return shown
}

// A setField is a custom field in the arguments of a tool.
type setField struct {
	Name   string   `json:"name" desc:"Name or id"`
	Value  string   `json:"value,omitempty" jsonschema:"maxLength=100000"`
	Values []string `json:"values,omitempty"`
}

// A wireField is a custom field in a request that sets it.
type wireField struct {
	ID    int    `json:"id"`
	Value any    `json:"value"`
	hint  string // what to write instead if Redmine refuses it
}

// setFields finds the ids of custom fields among those known, and the values that
// Redmine wants for what is to be set.
func setFields(ctx context.Context, s *Toolset, project int, set []setField, known []field) ([]wireField, error) {
	var wire []wireField
	var reads []func()
	for _, f := range set {
		if k, err := pickField(f.Name, known); err == nil {
			reads = append(reads, func() { _, _ = probeField(ctx, s, project, k) }) // the sequential read below reports the error
		}
	}
	runAll(reads...)
	for _, f := range set {
		k, err := pickField(f.Name, known)
		switch {
		case err != nil:
			return nil, err
		case slices.ContainsFunc(wire, func(w wireField) bool { return w.ID == k.ID }):
			return nil, toolpost.Retry.Errorf("Custom field %s [%d] is given twice; give it once, with all its values.", k.Name, k.ID)
		case len(f.Values) > 0 && f.Value != "":
			return nil, toolpost.Retry.Errorf("Custom field %s [%d] has both value and values; give only one of them.", k.Name, k.ID)
		}
		w, err := wireOf(ctx, s, project, f, k)
		if err != nil {
			return nil, err
		}
		wire = append(wire, w)
	}
	return wire, nil
}

// pickField finds a custom field by its name or id.
func pickField(text string, known []field) (field, error) {
	all := make([]idName, len(known))
	for i, f := range known {
		all[i] = idName{ID: f.ID, Name: f.Name}
	}
	n, err := matchName("custom field", text, all)
	if err != nil {
		return field{}, err
	}
	return known[slices.IndexFunc(known, func(k field) bool { return k.ID == n.ID })], nil
}

// givenValues returns the values to set. Those of a field that takes several
// may be a list that is written as JSON in one text.
func (f setField) givenValues(several bool) []string {
	var list []string
	switch {
	case len(f.Values) > 0:
		return slices.Clone(f.Values)
	case several && json.Unmarshal([]byte(f.Value), &list) == nil && len(list) > 0:
		return list
	}
	return []string{f.Value}
}

// wireWithRefresh is what Redmine wants for a value. If the field does not take it as far
// as is known, it may be a new one.
func wireWithRefresh(ctx context.Context, s *Toolset, project int, k *field, text string) (string, error) {
	wire, err := k.wire(ctx, s, project, text)
	if err == nil || !s.formats.drop(formatKey(*k, project)) {
		return wire, err
	}
	k.Format, k.Choices = "", nil
	if *k, err = probeField(ctx, s, project, *k); err != nil {
		return "", err
	}
	return k.wire(ctx, s, project, text)
}

// wireOf sets one field.
func wireOf(ctx context.Context, s *Toolset, project int, f setField, k field) (w wireField, err error) {
	w.ID = k.ID
	values := f.givenValues(k.Multiple)
	if len(values) > 1 || values[0] != "" {
		if k, err = probeField(ctx, s, project, k); err != nil {
			return w, err
		}
	}
	for i, text := range values {
		if text == "" {
			continue // clears it
		}
		if values[i], err = wireWithRefresh(ctx, s, project, &k, text); err != nil {
			return w, err
		}
		w.hint = cmp.Or(w.hint, k.hint(ctx, s, project, text))
	}
	if w.Value = values; len(values) == 1 && !k.Multiple {
		w.Value = values[0]
	}
	return w, nil
}

// withHint adds to what Redmine refuses what to write instead.
func withHint(err error, fields []wireField) error {
	var f *responseError
	if !errors.As(err, &f) || f.status != http.StatusUnprocessableEntity {
		return err
	}
	more := *f
	for _, w := range fields {
		if w.hint != "" {
			more.errors = append(slices.Clone(more.errors), w.hint)
		}
	}
	return &more
}

// diffFields returns the names of the fields that are not as they were set.
func diffFields(set []wireField, now []field) []string {
	var wrong []string
	for _, w := range set {
		i := slices.IndexFunc(now, func(f field) bool { return f.ID == w.ID })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("custom field %d does not belong to this tracker and project, or this account cannot see it", w.ID))
			continue
		}
		var want []string
		switch v := w.Value.(type) {
		case string:
			want = []string{v}
		case []string:
			want = v
		}
		want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "" })
		got := now[i].values()
		slices.Sort(want)
		want = slices.Compact(want)
		if slices.Sort(got); !slices.Equal(want, got) {
			wrong = append(wrong, fmt.Sprintf("custom field %s is %q", now[i].Name, strings.Join(got, ", ")))
		}
	}
	return wrong
}

// issueFields are the custom fields of issues in a project with a tracker, 0 for
// any. Only administrators can list them all: others learn them from an issue, of
// another project if the project has none with that tracker.
func issueFields(ctx context.Context, s *Toolset, project, tracker int) ([]field, error) {
	me, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	if me.Admin {
		all, err := definedFields(ctx, s, "issue")
		return slices.DeleteFunc(all, func(f field) bool {
			return tracker > 0 && !slices.ContainsFunc(f.Trackers, func(t idName) bool { return t.ID == tracker })
		}), err
	}
	all, err := seenFields(ctx, s, project, tracker)
	if err != nil || len(all) > 0 || project == 0 {
		return all, err
	}
	if all, err = seenFields(ctx, s, 0, tracker); err != nil {
		return nil, err
	}
	var answer struct {
		Project struct {
			Fields []field `json:"issue_custom_fields"` // those that not all projects have
		} `json:"project"`
	}
	err = s.client.get(ctx, fmt.Sprintf("/projects/%d.json", project), url.Values{"include": {"issue_custom_fields"}}, &answer)
	return distinct(append(all, answer.Project.Fields...)), explain(err, "the custom fields of the project")
}

// seenFields are the custom fields that the newest issues have.
func seenFields(ctx context.Context, s *Toolset, project, tracker int) ([]field, error) {
	most := 100
	if tracker > 0 {
		most = 1 // they have the same ones
	}
	some, err := newestIssues(ctx, s, project, tracker, most)
	var all []field
	for i := range some {
		all = append(all, some[i].CustomFields...)
	}
	return distinct(all), err
}

// newestIssues are open and closed ones, of any project or tracker if it is 0.
func newestIssues(ctx context.Context, s *Toolset, project, tracker, most int) ([]issue, error) {
	query := url.Values{"status_id": {"*"}}
	if project > 0 {
		query.Set("project_id", fmt.Sprint(project))
	}
	if tracker > 0 {
		query.Set("tracker_id", fmt.Sprint(tracker))
	}
	some, _, err := rows[issue](ctx, s, "/issues.json", query, "issues", 0, most)
	return some, explain(err, "the issues, to learn their custom fields")
}

// distinct leaves each field once.
func distinct(all []field) (once []field) {
	for _, f := range all {
		if !slices.ContainsFunc(once, func(o field) bool { return o.ID == f.ID }) {
			once = append(once, f)
		}
	}
	return once
}

// definedFields are the custom fields of one kind of thing, or of all, for
// administrators.
func definedFields(ctx context.Context, s *Toolset, kind string) ([]field, error) {
	var answer struct {
		Fields []field `json:"custom_fields"`
	}
	if err := s.client.get(ctx, "/custom_fields.json", nil, &answer); err != nil {
		return nil, explain(err, "the custom fields")
	}
	return slices.DeleteFunc(answer.Fields, func(f field) bool { return kind != "" && f.Kind != kind }), nil
}

// likeFields are the custom fields that the first of a list has, or all of a kind
// for administrators if there is none.
func likeFields(ctx context.Context, s *Toolset, path, key, kind string) ([]field, error) {
	type record struct {
		Fields []field `json:"custom_fields"`
	}
	some, _, err := rows[record](ctx, s, path, url.Values{}, key, 0, 1)
	if err != nil {
		return nil, explain(err, "a "+kind+", to learn its custom fields")
	}
	if len(some) > 0 {
		return some[0].Fields, nil
	}
	me, err := s.account(ctx)
	if err != nil || !me.Admin {
		return nil, err
	}
	return definedFields(ctx, s, kind)
}
