package stdtool

import (
	"context"

	"github.com/toolpost/toolpost"
)

type doneInput struct {
	Message string `json:"message" jsonschema:"maxLength=100000,description=The answer or what was done; it is the result of the run"`
}

// Done returns the tool done: it ends the run. A run also ends with an answer
// that calls no tool.
func Done() *toolpost.Tool {
	return toolpost.New("done", description("done"), func(_ context.Context, in doneInput) (string, error) {
		return "", toolpost.Done.Errorf("%s", in.Message)
	}, readOnly("End the run"))
}
