package redmine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// An entry is a tool of a group.
type entry struct {
	*toolpost.Tool
	effect  effect
	checked *schema.Schema // what the arguments are checked with
}

// An effect is what a tool does to Redmine.
type effect int

const (
	reads effect = iota
	adds
	changes
	removes
)

// tool makes a tool. Its text has at most four lines, and neither brackets nor
// underscores, which some clients do not take.
func tool[In any](s *Toolset, name, title, description string, e effect, fn func(ctx context.Context, in In) (*toolpost.Result, error)) entry {
	// What is left out has the value that MCP defines for a tool without it.
	no, yes, hints := false, true, toolpost.Annotations{}
	switch e {
	case reads:
		hints.ReadOnly = &yes
	case adds:
		hints.Destructive = &no
	case removes:
		hints.Idempotent = &yes
	}
	checked := func(ctx context.Context, in In) (*toolpost.Result, error) {
		ctx = remembering(ctx)
		if e == reads {
			return verified(ctx, s, func() (*toolpost.Result, error) { return fn(ctx, in) })
		}
		if err := s.Check(ctx); err != nil { // nobody may be allowed to write as well
			return nil, err
		}
		return fn(ctx, in)
	}
	inferred, err := schema.ForInput[In]()
	if err != nil {
		panic(fmt.Sprintf("redmine: the arguments of %s: %v", name, err))
	}
	input := bounded(inferred)
	t := toolpost.New(name, description, checked, &toolpost.Options{
		Title: title, Annotations: hints, Input: input, Policy: toolpost.Policy{Timeout: 5 * time.Minute},
	})
	t = redactErrors(s, coerceNumbers(t))
	t.Input = schema.MustParse(unpublished.ReplaceAllString(string(inferred.Raw()), ""))
	return entry{t, e, input}
}

// The limits of texts, of texts in lists, and of lists that have none of their own. A
// name is looked for in thousands of others.
const (
	longestText = 255
	longestItem = 1000
	longestList = 200
)

// bounded returns a schema in which nothing can grow without limit.
func bounded(s *schema.Schema) *schema.Schema {
	var root any
	if err := json.Unmarshal(s.Raw(), &root); err != nil {
		panic(err) // it was made of a type
	}
	bound(root, longestText)
	return schema.MustParse(string(encode(root)))
}

// bound limits a schema, and a text to longest.
func bound(v any, longest int) {
	m, _ := v.(map[string]any)
	switch {
	case m["type"] == "string" && m["maxLength"] == nil && m["enum"] == nil:
		m["maxLength"] = longest
	case m["type"] == "array":
		if m["maxItems"] == nil {
			m["maxItems"] = longestList
		}
		bound(m["items"], longestItem)
	}
	properties, _ := m["properties"].(map[string]any)
	for _, property := range properties {
		bound(property, longestText)
	}
}

// unpublished is what the tools check and do not publish, such as the numbers of
// states beside their names: models keep to it anyway, and it would be a tenth of
// the tokens of the definitions.
var unpublished = regexp.MustCompile(`,"(?:additionalProperties|minLength|maxLength|minimum|maximum|default)":(?:false|\d+)|,"\d"`)

// A projectID names the project that a tool works in.
type projectID struct {
	Project string `json:"project_id" desc:"Id, key or name"`
}

func (in projectID) project() string { return in.Project }

// projectTool makes a tool that works in one project.
func projectTool[In interface{ project() string }](s *Toolset, name, title, description string, e effect, fn func(ctx context.Context, in In, p named) (*toolpost.Result, error)) entry {
	return tool(s, name, title, description, e, func(ctx context.Context, in In) (*toolpost.Result, error) {
		p, err := s.project(ctx, in.project())
		if err != nil {
			return nil, err
		}
		return fn(ctx, in, p)
	})
}

// A locator is the arguments of a tool that name one record.
type locator[T, In any] interface {
	*In
	find(ctx context.Context, s *Toolset) (*T, error)
}

// showTool makes a tool that shows the record that its arguments name.
func showTool[In, T any, L locator[T, In]](s *Toolset, name, title, description string) entry {
	return tool(s, name, title, description, reads, func(ctx context.Context, in In) (*toolpost.Result, error) {
		record, err := L(&in).find(ctx, s)
		if err != nil {
			return nil, err
		}
		nameFields(ctx, s, projectOf(record), projectOf(record), customFieldsOf(record))
		return s.show("", record, nil)
	})
}

// changeTool makes a tool that changes the record that its arguments name. Fill
// finds what to set.
func changeTool[In, T any, L locator[T, In]](s *Toolset, k func() resource[T], name, title, description string, fill func(w *write, in *In, before *T)) entry {
	return tool(s, name, title, description, changes, func(ctx context.Context, in In) (*toolpost.Result, error) {
		before, err := L(&in).find(ctx, s)
		if err != nil {
			return nil, err
		}
		w := newWrite(ctx, s, projectOf(before))
		fill(w, &in, before)
		return k().change(w, before)
	})
}

// A confirmation is the argument without which a deletion only shows what it would
// delete.
type confirmation struct {
	Confirm bool `json:"confirm,omitempty" desc:"Without it, only a preview"`
}

func (c confirmation) confirmed() bool { return c.Confirm }

// deleteTool makes a tool that deletes the record that its arguments name. Plan
// completes what the answer shows before it is confirmed.
func deleteTool[In interface{ confirmed() bool }, T any, L locator[T, In]](s *Toolset, k func() resource[T], name, title, description string, plan func(ctx context.Context, in *In, record *T, r *removal) error) entry {
	return tool(s, name, title, description, removes, func(ctx context.Context, in In) (*toolpost.Result, error) {
		record, err := L(&in).find(ctx, s)
		if err != nil {
			return nil, err
		}
		r := &removal{what: k().name(record), would: "This would go:\n\n" + textOf(record), facts: map[string]any{k().key: record}, confirmed: in.confirmed()}
		if err := plan(ctx, &in, record, r); err != nil {
			return nil, err
		}
		return k().remove(ctx, s, record, r)
	})
}

// redactErrors keeps our credentials out of errors.
func redactErrors(s *Toolset, t *toolpost.Tool) *toolpost.Tool {
	next := t.Handler
	t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		r, err := next(ctx, call)
		return r, s.client.hide.inError(err)
	}
	return t
}

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

var customField = regexp.MustCompile(`^cf_\d+$`)

// answer returns v for programs and text for people and models; neither has our
// credentials in it.
func (s *Toolset) answer(text string, v any) (*toolpost.Result, error) {
	var structured bytes.Buffer
	e := json.NewEncoder(&structured)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	part := toolpost.Part{Type: "text", Text: s.client.hide.inText(text)}
	return toolpost.NewResult().WithContent([]toolpost.Part{part}, s.client.hide.inJSON(bytes.TrimSuffix(structured.Bytes(), []byte("\n"))))
}
