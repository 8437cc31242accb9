package redmine

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// mostArguments bounds the arguments of one call, in bytes. It leaves room for a
// file of 32 MiB in base64.
const mostArguments = 48 << 20

// coerceNumbers lets numbers stand where the schema says text, as models and older
// clients write ids.
func coerceNumbers(t *toolpost.Tool) *toolpost.Tool {
	next := t.Handler
	var input shape
	if raw, err := json.Marshal(t.Input); err == nil {
		_ = json.Unmarshal(raw, &input) // nothing is quoted without it
	}
	t.Policy.SkipValidation = true // next checks what is made of the arguments
	t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if len(call.Arguments) > mostArguments {
			return nil, toolpost.Retry("The arguments have %d bytes, and the limit is %d: send less.", len(call.Arguments), mostArguments)
		}
		inner := *call
		inner.Arguments = asText(call.Arguments, &input)
		if input.Properties["filters"] != nil {
			inner.Arguments = asFilters(inner.Arguments)
		}
		return next(ctx, &inner)
	}
	return t
}

// A shape is what a schema says of a value, as far as it matters here.
type shape struct {
	Type       string            `json:"type"`
	Items      *shape            `json:"items"`
	Properties map[string]*shape `json:"properties"`
}

// quote turns numbers into texts where the schema has those. It reports whether there
// were any.
func (sh *shape) quote(value any) (quoted any, changed bool) {
	if sh == nil {
		return value, false
	}
	switch v := value.(type) {
	case json.Number:
		if sh.Type == "string" {
			return v.String(), true
		}
	case []any:
		for i := range v {
			var one bool
			v[i], one = sh.Items.quote(v[i])
			changed = changed || one
		}
	case map[string]any:
		changed = sh.nameID(v)
		for name := range v {
			var one bool
			v[name], one = sh.Properties[name].quote(v[name])
			changed = changed || one
		}
	}
	return value, changed
}

// nameID takes the id of a custom field, which older clients give beside its name or
// in place of it, for the name.
func (sh *shape) nameID(v map[string]any) bool {
	isField := sh.Properties["name"] != nil && sh.Properties["value"] != nil && sh.Properties["values"] != nil
	id := v["id"]
	if !isField || id == nil {
		return false
	}
	v["name"] = id
	delete(v, "id")
	return true
}

// asText quotes the numbers that stand for texts.
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
	for _, name := range sorted(given) {
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
