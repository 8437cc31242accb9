package redmine

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// maxArguments bounds the arguments of one call, in bytes. It leaves room for a
// file of 32 MiB in base64.
const maxArguments = 48 << 20

// coerceNumbers lets numbers stand where the schema says text, as models and older
// clients write ids. An empty text may clear those that are clearable.
func coerceNumbers(t *toolpost.Tool, clearable []string) *toolpost.Tool {
	next := t.Handler
	var input shape
	if raw, err := json.Marshal(t.Input); err == nil {
		_ = json.Unmarshal(raw, &input) // nothing is quoted without it
	}
	input.tool = t.Name
	t.Policy.SkipValidation = true // next checks what is made of the arguments
	t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if len(call.Arguments) > maxArguments {
			return nil, toolpost.Retry.Errorf("The arguments have %d bytes, and the limit is %d: send less.", len(call.Arguments), maxArguments)
		}
		inner := *call
		inner.Arguments = asText(call.Arguments, &input)
		if input.Properties["filters"] != nil {
			inner.Arguments = asFilters(inner.Arguments)
		}
		ctx, inner.Arguments = clearEmpty(ctx, inner.Arguments, clearable)
		return next(ctx, &inner)
	}
	return t
}

// A shape is what a schema says of a value, as far as it matters here.
type shape struct {
	Type       string            `json:"type"`
	Items      *shape            `json:"items"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	tool       string            // whose arguments it describes
}

// quote turns numbers into texts where the schema has those, and what else Redmine or
// other clients write in another form. It reports whether there was any.
func (sh *shape) quote(value any) (quoted any, changed bool) {
	if sh == nil {
		return value, false
	}
	if list, ok := sh.asList(value); ok {
		list, _ := sh.quote(list)
		return list, true
	}
	switch v := value.(type) {
	case json.Number:
		if sh.Type == "string" {
			return v.String(), true
		}
	case bool:
		if sh.Type == "string" {
			return strconv.FormatBool(v), true
		}
	case []any:
		for i := range v {
			var one bool
			v[i], one = sh.Items.quote(v[i])
			changed = changed || one
		}
	case map[string]any:
		changed = sh.quoteObject(v)
	}
	return value, changed
}

// joinList writes a list of texts and numbers as the one text that filters take.
func joinList(list []any) (text any, changed bool) {
	parts := make([]string, len(list))
	for i, one := range list {
		switch one := one.(type) {
		case string:
			parts[i] = one
		case json.Number:
			parts[i] = one.String()
		default:
			return list, false
		}
	}
	return strings.Join(parts, "|"), len(parts) > 0
}

func (sh *shape) quoteObject(v map[string]any) bool {
	changed := sh.rename(v)
	changed = sh.dropNulls(v) || changed
	changed = sh.fieldForm(v) || changed
	for name := range v {
		var one bool
		if list, ok := v[name].([]any); ok && sh.Properties[name] != nil && sh.Properties[name].Type == "string" && strings.HasPrefix(sh.tool, "list_") {
			v[name], one = joinList(list)
			changed = changed || one
		}
		v[name], one = sh.Properties[name].quote(v[name])
		changed = changed || one
	}
	return changed
}

// dropNulls drops the optional properties that are null: that is how clients leave them
// out.
func (sh *shape) dropNulls(v map[string]any) bool {
	before := len(v)
	maps.DeleteFunc(v, func(name string, value any) bool {
		return value == nil && sh.Properties[name] != nil && !slices.Contains(sh.Required, name)
	})
	return len(v) < before
}

// asList makes a list of one text, and one of custom fields of an object: a single
// field, or values by the names of the fields.
func (sh *shape) asList(value any) (list []any, ok bool) {
	if sh.Type != "array" || sh.Items == nil {
		return nil, false
	}
	switch v := value.(type) {
	case string, json.Number:
		return []any{v}, sh.Items.Type == "string" && v != ""
	case map[string]any:
		if !sh.Items.isField() {
			return nil, false
		}
		if (v["name"] != nil || v["id"] != nil) && (v["value"] != nil || v["values"] != nil) {
			return []any{v}, true
		}
		for _, name := range sortedKeys(v) {
			list = append(list, map[string]any{"name": name, "value": v[name]})
		}
		return list, true
	}
	return nil, false
}

// isField reports whether a shape is that of a custom field.
func (sh *shape) isField() bool {
	return sh.Properties["name"] != nil && sh.Properties["value"] != nil && sh.Properties["values"] != nil
}

// fieldForm takes custom fields as Redmine has them: with an id, which older clients also
// give beside the name, and with a list as the value.
func (sh *shape) fieldForm(v map[string]any) (changed bool) {
	if !sh.isField() {
		return false
	}
	if id := v["id"]; id != nil {
		v["name"], changed = id, true
		delete(v, "id")
	}
	if list, ok := v["value"].([]any); ok && v["values"] == nil {
		v["values"], changed = list, true
		delete(v, "value")
	}
	return changed
}

// rename gives properties that the tool does not have the names that it has.
func (sh *shape) rename(v map[string]any) (changed bool) {
	for _, name := range sortedKeys(v) {
		if sh.Properties[name] != nil {
			continue
		}
		known := sh.nameOf(name)
		if _, given := v[known]; known == "" || given {
			continue
		}
		v[known], changed = v[name], true
		delete(v, name)
	}
	return changed
}

// nameOf returns what the tool calls a property: user_ids for user_id, project_id for
// project, and id for issue_id if an issue is what it shows or changes.
func (sh *shape) nameOf(name string) string {
	for _, known := range []string{name + "s", name + "_id", strings.TrimSuffix(name, "s") + "_ids"} {
		if sh.Properties[known] != nil && strings.HasSuffix(strings.TrimSuffix(known, "s"), "_id") {
			return known
		}
	}
	_, noun, _ := strings.Cut(sh.tool, "_") // after the verb
	noun = strings.TrimSuffix(noun, "_description")
	what, isID := strings.CutSuffix(name, "_id")
	if what == "journal" {
		what = "comment" // as Redmine has it
	}
	switch {
	case isID && sh.Properties["id"] != nil && (noun == what || strings.HasSuffix(noun, "_"+what)):
		return "id"
	case name == "custom_field_values" && sh.Properties["custom_fields"] != nil:
		return "custom_fields"
	}
	return ""
}

// asText quotes the numbers that stand for texts, and so on.
func asText(raw json.RawMessage, sh *shape) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return raw
	}
	value, changed := sh.quote(value)
	if !changed {
		return raw
	}
	if out, err := json.Marshal(value); err == nil {
		return out
	}
	return raw
}

// asFilters makes filters of properties such as cf_1: Redmine and older clients have
// conditions on custom fields that way.
func asFilters(raw json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return raw
	}
	var filters []json.RawMessage
	_ = json.Unmarshal(given["filters"], &filters) // its errors are reported later
	properties, conditions := len(given), len(filters)
	for _, name := range sortedKeys(given) {
		value, ok := textOrNumber(given[name])
		if !ok || !customField.MatchString(name) {
			continue
		}
		delete(given, name)
		if strings.TrimSpace(value) != "" { // an empty property sets no condition
			filters = append(filters, encode(filter{Field: name, Values: strings.Split(value, "|")}))
		}
	}
	if len(given) == properties {
		return raw
	}
	if len(filters) > conditions {
		given["filters"] = encode(filters)
	}
	return bytes.TrimSpace(encode(given))
}

// textOrNumber decodes a JSON string or number; null is an empty text.
func textOrNumber(raw json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var n json.Number
	err := json.Unmarshal(raw, &n)
	return n.String(), err == nil
}

var customField = lazyregexp.New(`^cf_\d+$`)
