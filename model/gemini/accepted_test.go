package gemini_test

import (
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/dev/modeltest"
)

// accepted returns the wire of Gemini, which also checks the tools of requests by the
// held-out rules for schemas.
func accepted() modeltest.Wire {
	w := modeltest.Gemini()
	check := w.Check
	w.Check = func(data []byte) error {
		if err := check(data); err != nil {
			return err
		}
		var request struct {
			Tools []struct {
				FunctionDeclarations []struct {
					Name                 string
					Description          string
					ParametersJSONSchema json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(data, &request); err != nil {
			return err
		}
		for _, t := range request.Tools {
			for _, f := range t.FunctionDeclarations {
				if found := accept.Check("gemini", []accept.Tool{{Name: f.Name, Description: f.Description, Input: f.ParametersJSONSchema}}); len(found) > 0 {
					return fmt.Errorf("%v", found)
				}
			}
		}
		return nil
	}
	return w
}
