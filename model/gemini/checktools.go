package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/schema"
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
			if err := checkSchemas("tools", f.Name, f.Parameters, f.ParametersJSONSchema, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSchemas checks a function with one of the two forms of its schema, or with
// none.
func checkSchemas(where, name string, typed, jsonSchema json.RawMessage, d *dialect.Dialect) error {
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
	t := &toolpost.Tool{Definition: toolpost.Definition{Name: name, Description: "A function."}}
	if raw != nil {
		var err error
		if t.Input, err = schema.Parse(raw); err != nil {
			return fmt.Errorf("%s: schema of %q: %w", where, name, err)
		}
	}
	for _, f := range d.Lint([]*toolpost.Tool{t}, nil) {
		switch f.Effect {
		case dialect.KillsSession, dialect.KillsServer, dialect.RefusesCall:
			return fmt.Errorf("%s: %q at %s: %s", where, name, f.Pointer, f.Message)
		}
	}
	return nil
}
