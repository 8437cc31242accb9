package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// checkTools checks the declarations of functions by the rules of d, or by
// Google's if it is nil. Other tools are not checked.
func checkTools(raw json.RawMessage, d *dialect.Dialect) error {
	if raw == nil {
		return nil
	}
	var tools []struct {
		FunctionDeclarations []struct {
			Name                 string          `json:"name"`
			Description          string          `json:"description"`
			Parameters           json.RawMessage `json:"parameters"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		return fmt.Errorf("tools is not a list of tools: %w", err)
	}
	seen := map[string]bool{}
	for _, t := range tools {
		for _, f := range t.FunctionDeclarations {
			if seen[f.Name] {
				return fmt.Errorf("tools: two functions have the name %q", f.Name)
			}
			seen[f.Name] = true
			if err := checkSchemas("tools", f.Name, f.Parameters, f.ParametersJSONSchema, d, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// outputOff returns the rules that hold for functions only: the answer may be any
// JSON.
func outputOff() map[string]string {
	const why = "the answer may be any JSON"
	return map[string]string{"root-object": why, "poison-root-type": why}
}

// checkSchemas checks a function or an answer with one of the two forms of its
// schema, or with none.
func checkSchemas(where, name string, typed, jsonSchema json.RawMessage, d *dialect.Dialect, off map[string]string) error {
	if typed != nil && jsonSchema != nil {
		return fmt.Errorf("%s: %q has two schemas", where, name)
	}
	id, raw := dialectID, jsonSchema
	if typed != nil {
		id, raw = "gemini-schema", typed
	}
	if d == nil {
		var err error
		if d, err = dialect.Find(id); err != nil {
			return err
		}
	}
	if raw == nil { // only the name is left to check
		raw = json.RawMessage(`{"type":"object","properties":{"none":{"type":"string"}}}`)
	}
	return checkSchema(where, name, raw, d, off)
}

// checkSchema returns the first place of a schema for which the provider would
// refuse the request.
func checkSchema(where, name string, raw json.RawMessage, d *dialect.Dialect, off map[string]string) error {
	input, err := schema.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: schema of %q: %w", where, name, err)
	}
	t := &toolpost.Tool{Definition: toolpost.Definition{Name: name, Description: "A function.", Input: input}}
	for _, f := range d.Lint([]*toolpost.Tool{t}, &dialect.Options{Off: off}) {
		if f.Effect.Refuses() && f.Off == "" {
			return fmt.Errorf("%s: %q at %s: %s", where, name, f.Pointer, f.Message)
		}
	}
	return nil
}
