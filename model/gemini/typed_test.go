package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/dev/modeltest"
)

// A body is the body of a request in the SDK's types.
type body struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Tools             []*genai.Tool           `json:"tools"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

// typed lets the SDK's types and the held-out rules for schemas check requests
// too. Members of parts that the types do not know are those of tests.
func typed(w modeltest.Wire) modeltest.Wire {
	check := w.Check
	w.Check = func(data []byte) error {
		if err := check(data); err != nil {
			return err
		}
		var strict struct {
			body
			Contents json.RawMessage `json:"contents"`
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&strict); err != nil {
			return fmt.Errorf("the SDK's types: %w", err)
		}
		b, err := decode(data)
		if err != nil {
			return err
		}
		for _, t := range b.Tools {
			for _, f := range t.FunctionDeclarations {
				schema, err := json.Marshal(f.ParametersJsonSchema)
				if err != nil {
					return err
				}
				if found := accept.Check("gemini", []accept.Tool{{Name: f.Name, Description: f.Description, Input: schema}}); len(found) > 0 {
					return fmt.Errorf("%v", found)
				}
			}
		}
		return nil
	}
	return w
}

func decode(data []byte) (*body, error) {
	b := new(body)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("the SDK's types: %w", err)
	}
	return b, nil
}
