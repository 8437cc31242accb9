package stdtool

import (
	"context"
	_ "embed" // for the description
	"fmt"

	"github.com/toolpost/toolpost"
)

//go:embed write.md
var writeDescription string

type writeInput struct {
	Path         string `json:"path" jsonschema:"minLength=1"`
	Content      string `json:"content"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema:"minLength=12,description=content_sha256 of read"`
}

// write returns the tool write: it makes a file, or replaces all of it.
func (f *folder) write() *toolpost.Tool {
	return toolpost.New("write", description(writeDescription), func(ctx context.Context, in writeInput) (string, error) {
		d, err := f.open(ctx, in.Path)
		if err != nil {
			return "", err
		}
		defer func() { d.unlock() }()
		if err := d.guard(in.ExpectedHash); err != nil {
			return "", err
		}
		if len(in.Content) > maxChanged {
			return "", toolpost.Failed("content has %d bytes: files of more than %d are not written", len(in.Content), maxChanged)
		}
		if err := d.save([]byte(in.Content)); err != nil {
			return "", err
		}
		note := "made"
		if d.info != nil {
			note = fmt.Sprintf("replaced %d bytes", len(d.content))
		}
		return fmt.Sprintf("%s: %s, wrote %d bytes\n%s", d.given, note, len(in.Content), hashNote(contentHash([]byte(in.Content)))), nil
	}, writing("Write file"))
}
