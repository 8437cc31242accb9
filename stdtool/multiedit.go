package stdtool

import (
	"context"

	"github.com/toolpost/toolpost"
)

type multiEditInput struct {
	Path         string        `json:"path" jsonschema:"minLength=1,maxLength=4096"`
	Edits        []replacement `json:"edits" jsonschema:"minItems=1,maxItems=200"`
	DryRun       bool          `json:"dry_run,omitempty"`
	ExpectedHash string        `json:"expected_hash,omitempty" jsonschema:"minLength=12,maxLength=64"`
	Encoding     string        `json:"encoding,omitempty" jsonschema:"maxLength=40"`
}

// MultiEdit returns the tool multi_edit: several edits of a file at once.
func (f *Workspace) MultiEdit() *toolpost.Tool {
	return newTool("multi_edit", func(ctx context.Context, in multiEditInput) (string, error) {
		same := editInput{Path: in.Path, MatchMode: "line_trimmed", DryRun: in.DryRun, ExpectedHash: in.ExpectedHash, Encoding: in.Encoding}
		return f.change(ctx, same, in.Edits)
	}, writing("Edit file in several places"))
}
