package redmine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A field is a custom field and its value: a text, a list of texts, or null.
type field struct {
	ID       int             `json:"id"`
	Name     string          `json:"name"`
	Multiple bool            `json:"multiple,omitempty"`
	Value    json.RawMessage `json:"value"`
}

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
		if v := f.values(); len(v) > 0 {
			shown[f.Name] = strings.Join(v, ", ")
		}
	}
	return shown
}

// A setField is a custom field as a tool is told to set it.
type setField struct {
	ID     string   `json:"id,omitempty" jsonschema:"description=Field id if its name is not given"`
	Name   string   `json:"name,omitempty" jsonschema:"description=Field name"`
	Value  string   `json:"value,omitempty" jsonschema:"description=New value. Yes or no fields take 1 or 0. Left out or empty clears the field"`
	Values []string `json:"values,omitempty" jsonschema:"description=New values of a field that takes several"`
}

// A wireField is a custom field as Redmine is told to set it.
type wireField struct {
	ID    int `json:"id"`
	Value any `json:"value"`
}

// setFields finds the ids of custom fields among those known.
func setFields(set []setField, known []field) ([]wireField, error) {
	var wire []wireField
	all := make([]named, len(known))
	for i, f := range known {
		all[i] = named{ID: f.ID, Name: f.Name}
	}
	for _, f := range set {
		text := strings.TrimSpace(f.ID)
		if text == "" {
			text = f.Name
		}
		n, err := pick("custom field", text, all)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(known, func(k field) bool { return k.ID == n.ID })
		switch {
		case len(f.Values) > 0 && f.Value != "":
			return nil, toolpost.Retry("Custom field %s has value and values; give one of them.", n)
		case len(f.Values) > 0:
			wire = append(wire, wireField{n.ID, f.Values})
		case known[i].Multiple && f.Value != "":
			wire = append(wire, wireField{n.ID, []string{f.Value}})
		case known[i].Multiple:
			wire = append(wire, wireField{n.ID, []string{""}})
		default:
			wire = append(wire, wireField{n.ID, f.Value})
		}
	}
	return wire, nil
}

// unset returns the names of the fields that are not as they were set.
func unset(set []wireField, now []field) []string {
	var wrong []string
	for _, w := range set {
		i := slices.IndexFunc(now, func(f field) bool { return f.ID == w.ID })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("custom field %d is not one of this tracker and project, or not visible", w.ID))
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
		if slices.Sort(got); !slices.Equal(want, got) {
			wrong = append(wrong, fmt.Sprintf("custom field %s is %q", now[i].Name, strings.Join(got, ", ")))
		}
	}
	return wrong
}

// issueFields are the custom fields of issues in a project with a tracker, 0 for
// any. Only administrators can list them all: others learn them from an issue.
func issueFields(ctx context.Context, s *Server, project, tracker int) ([]field, error) {
	me, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	if me.Admin {
		return definedFields(ctx, s, "issue")
	}
	query := url.Values{"status_id": {"*"}}
	if project > 0 {
		query.Set("project_id", fmt.Sprint(project))
	}
	if tracker > 0 {
		query.Set("tracker_id", fmt.Sprint(tracker))
	}
	some, _, err := rows[issue](ctx, s, "/issues.json", query, "issues", 0, 1)
	if err != nil {
		return nil, explain(err, "an issue of the project, to learn its custom fields")
	}
	if len(some) > 0 {
		return some[0].CustomFields, nil
	}
	var answer struct {
		Project struct {
			Fields []field `json:"issue_custom_fields"`
		} `json:"project"`
	}
	err = s.client.get(ctx, fmt.Sprintf("/projects/%d.json", project), url.Values{"include": {"issue_custom_fields"}}, &answer)
	return answer.Project.Fields, explain(err, "the custom fields of the project")
}

// definedFields are the custom fields of one kind of thing, for administrators.
func definedFields(ctx context.Context, s *Server, kind string) ([]field, error) {
	var answer struct {
		Fields []struct {
			field
			Kind string `json:"customized_type"`
		} `json:"custom_fields"`
	}
	if err := s.client.get(ctx, "/custom_fields.json", nil, &answer); err != nil {
		return nil, explain(err, "the custom fields")
	}
	var all []field
	for _, f := range answer.Fields {
		if f.Kind == kind {
			all = append(all, f.field)
		}
	}
	return all, nil
}
