package stdtool

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

type writeInput struct {
	Path         string `json:"path" jsonschema:"minLength=1,maxLength=4096"`
	Content      string `json:"content" jsonschema:"maxLength=16000000"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema:"minLength=12,maxLength=64,description=content_sha256 of read"`
	Encoding     string `json:"encoding,omitempty" jsonschema:"maxLength=40"`
}

// Write returns the tool write: it makes a file, or replaces all of it.
func (f *Workspace) Write() *toolpost.Tool {
	return newTool("write", func(ctx context.Context, in writeInput) (string, error) {
		if strings.HasSuffix(in.Path, "/") {
			return f.makeFolder(in)
		}
		d, err := f.open(ctx, in.Path)
		if err != nil {
			return "", err
		}
		defer func() { d.unlock() }()
		if err := d.guard(in.ExpectedHash); err != nil {
			return "", err
		}
		content, kept, err := d.rewrite(ctx, in.Content, in.Encoding)
		if err != nil {
			return "", err
		}
		if len(content) > maxChanged {
			return "", toolpost.Failed.Errorf("content has %d bytes, and the limit for a file is %d: write less", len(content), maxChanged)
		}
		if err := d.save(content); err != nil {
			return "", err
		}
		note := "created"
		if d.info != nil {
			note = fmt.Sprintf("replaced %d bytes", len(d.content))
		}
		return fmt.Sprintf("%s: %s, wrote %d bytes%s\n%s", d.given, note, len(content), kept, hashNote(contentHash(content))), nil
	}, writing("Write file"))
}

// makeFolder makes a folder, and those above it.
func (f *Workspace) makeFolder(in writeInput) (string, error) {
	name, err := localPath(f.root, in.Path)
	if err != nil {
		return "", err
	}
	if in.Content != "" || in.ExpectedHash != "" {
		return "", toolpost.Retry.Errorf("%q ends with a slash and so creates a directory: leave content empty, or give the path of a file", in.Path)
	}
	target, err := f.target(name)
	if err != nil {
		return "", err
	}
	if _, err := f.root.Lstat(target); err == nil {
		return "", toolpost.Retry.Errorf("%q already exists: give another path, or write a file into it", name)
	}
	if _, err := makeFolders(f.root, target); err != nil {
		return "", writeError(name, err)
	}
	return name + "/: created\n", nil
}
