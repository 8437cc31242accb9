package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// checkTools checks the names and schemas of a list of tools.
func checkTools(list json.RawMessage) error {
	if list == nil {
		return nil
	}
	tree, broken := jsontree.Parse(list, 2*maxLevels)
	if broken != nil {
		return fmt.Errorf("tools: %w", broken)
	}
	names := map[string]bool{}
	var strict []json.RawMessage
	for i, t := range tree.Items() {
		name := textOf(t.Get("name"))
		if names[name] {
			return fmt.Errorf("tools.%d: two tools are named %q", i, name)
		}
		names[name] = true
		if kind := textOf(t.Get("type")); kind != "" && kind != "custom" {
			continue // a tool of the provider
		}
		id := "anthropic"
		input := t.Get("input_schema")
		if !isObject(input) {
			return fmt.Errorf("tools.%d: it has no input_schema", i)
		}
		if s := t.Get("strict"); s != nil && s.Is("true") {
			id = "anthropic-strict"
			strict = append(strict, input.Raw)
		}
		if err := lintSchema(id, name, input.Raw); err != nil {
			return fmt.Errorf("tools.%d: %w", i, err)
		}
	}
	return checkStrict(strict)
}

// checkStrict checks the limits for all strict tools of a request.
func checkStrict(tools []json.RawMessage) error {
	d, err := dialect.Find("anthropic-strict")
	if err != nil {
		return err
	}
	if err := d.CheckStrict(tools); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	return nil
}

// lintSchema returns the first reason why a request with a tool of that name and
// schema is refused, by the rules of a dialect.
func lintSchema(id, name string, raw json.RawMessage) error {
	d, err := dialect.Find(id)
	if err != nil {
		return err
	}
	input, err := schema.Parse(raw)
	if err != nil {
		return err
	}
	return lint(d, name, input)
}

// refused is the only effect that counts here: what else a reader does with tools, such as
// losing all of a server, happens to no request.
const refused dialect.Effect = "the request is refused"

func lint(d *dialect.Dialect, name string, input *schema.Schema) error {
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: input},
		Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, errNotCalled }}
	for _, f := range d.Lint([]*toolpost.Tool{tool}, nil) {
		if f.Effect == refused && f.Off == "" {
			return fmt.Errorf("%s: %s (%s)", f.Pointer, f.Message, f.Rule)
		}
	}
	return nil
}

var errNotCalled = errors.New("this tool is only checked")
