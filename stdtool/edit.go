package stdtool

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

type editInput struct {
	Path string `json:"path" jsonschema:"minLength=1,maxLength=4096"`
	replacement
	MatchMode    string `json:"match_mode,omitempty" jsonschema:"enum=exact,enum=line_trimmed,enum=block_anchor,default=line_trimmed"`
	DryRun       bool   `json:"dry_run,omitempty" jsonschema:"description=Only show the diff"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema:"minLength=12,maxLength=64,description=content_sha256 of read"`
	Encoding     string `json:"encoding,omitempty" jsonschema:"maxLength=40"`
}

// A replacement is one edit.
type replacement struct {
	OldString            string `json:"old_string" jsonschema:"maxLength=1000000"`
	NewString            string `json:"new_string" jsonschema:"maxLength=1000000"`
	ReplaceAll           bool   `json:"replace_all,omitempty"`
	ExpectedReplacements int    `json:"expected_replacements,omitempty" jsonschema:"minimum=1"`
}

// Edit returns the tool edit: it replaces text in a file, or makes a file.
func (f *Workspace) Edit() *toolpost.Tool {
	return newTool("edit", func(ctx context.Context, in editInput) (string, error) {
		return f.change(ctx, in, []replacement{in.replacement})
	}, writing("Edit file"))
}

// change makes all replacements, one after the other, or none.
func (f *Workspace) change(ctx context.Context, in editInput, edits []replacement) (string, error) {
	d, err := f.open(ctx, in.Path)
	if err != nil {
		return "", err
	}
	defer func() { d.unlock() }()
	if err := d.guard(in.ExpectedHash); err != nil {
		return "", err
	}
	r, err := d.revise(ctx, in.Encoding, func(text []byte) ([]byte, []string, error) {
		return d.edit(ctx, text, in.MatchMode, edits)
	})
	if err != nil {
		return "", err
	}
	return d.finish(r, in.DryRun)
}

// edit returns text with all replacements made, and what was done.
func (d *document) edit(ctx context.Context, text []byte, mode string, edits []replacement) ([]byte, []string, error) {
	var done []string
	for i, e := range edits {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		changed, note, err := e.apply(d, text, mode, i == 0)
		if err != nil {
			if len(edits) > 1 {
				err = toolpost.Retry.Errorf("edit %d of %d: %v\nNothing was changed.", i+1, len(edits), err)
			}
			return nil, nil, err
		}
		text, done = changed, append(done, note)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return text, done, nil
}

// apply returns content with the replacement made, and what was done.
func (e replacement) apply(d *document, content []byte, mode string, first bool) ([]byte, string, error) {
	missing := d.info == nil && first
	switch {
	case missing && e.OldString == "":
		return []byte(e.NewString), "created", nil
	case missing:
		return nil, "", toolpost.Retry.Errorf("%q does not exist: find the right path with glob, or create it with an empty old_string", d.given)
	case e.OldString == "":
		return nil, "", toolpost.Retry.Errorf("%q already exists: give the text to replace as old_string", d.given)
	case e.OldString == e.NewString:
		return content, "nothing to change: old_string and new_string are the same", nil
	case strings.TrimSpace(e.OldString) == "":
		return nil, "", toolpost.Retry.Errorf("old_string contains only whitespace: add the text around it")
	}
	how, found := find(content, e.OldString, e.NewString, mode)
	if err := e.check(d, content, found, mode); err != nil {
		return nil, "", err
	}
	if found = withoutOverlaps(found); how == otherLines && len(found) > 1 {
		return nil, "", toolpost.Retry.Errorf("old_string resembles several places in %q, at %s: copy it exactly from the file", d.given, lineNumbers(content, found))
	}
	note := fmt.Sprintf("%d replaced at %s", len(found), lineNumbers(content, found))
	if how != "" {
		note += " (not an exact match: " + how + ")"
	}
	return apply(content, found), note, nil
}

// blockHint names the lines that match_mode block_anchor would replace.
func blockHint(content []byte, old, mode string) string {
	if mode != "line_trimmed" || len(content) > maxLoose {
		return ""
	}
	found := findBlocks(content, old, "")
	if len(found) != 1 {
		return ""
	}
	first := lineOf(content, found[0].from)
	last := first + lineOf(content[found[0].from:], found[0].to-found[0].from-1) - 1
	return fmt.Sprintf("\nLines %d to %d begin and end like old_string: set match_mode to block_anchor to replace them.", first, last)
}

// check returns an error unless the matches are as many as the caller asked for.
func (e replacement) check(d *document, content []byte, found []match, mode string) error {
	n := len(found)
	switch {
	case n == 0:
		return toolpost.Retry.Errorf("old_string is not in %q.%s%s%s", d.given, nearest(content, e.OldString), blockHint(content, e.OldString, mode), numberHint(e.OldString))
	case e.ExpectedReplacements > 0 && len(withoutOverlaps(found)) != e.ExpectedReplacements:
		return toolpost.Retry.Errorf("old_string occurs %d times in %q, at %s, but expected_replacements is %d: check the places, then give the right number",
			len(withoutOverlaps(found)), d.given, lineNumbers(content, found), e.ExpectedReplacements)
	case n > 1 && !e.ReplaceAll && e.ExpectedReplacements < 2:
		return toolpost.Retry.Errorf("old_string occurs more than once in %q, at %s: add lines around it to make it unique, or set replace_all",
			d.given, lineNumbers(content, found))
	}
	return nil
}

// withoutOverlaps returns the matches without those that overlap the one before.
func withoutOverlaps(found []match) []match {
	var kept []match
	end := 0
	for _, m := range found {
		if m.from >= end {
			kept, end = append(kept, m), m.to
		}
	}
	return kept
}

// finish saves the revision, unless it is a dry run, and returns the diff.
func (d *document) finish(r *revision, dry bool) (string, error) {
	switch {
	case len(r.content) > maxChanged:
		return "", toolpost.Failed.Errorf("%q would have %d bytes, and the limit for a file is %d: write less", d.given, len(r.content), maxChanged)
	case dry:
		r.done = append(r.done, "dry run: nothing was written")
	case d.info == nil || string(r.content) != string(d.content):
		if err := d.save(r.content); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.given, strings.Join(r.done, "; "))
	if d.info != nil {
		b.WriteString(diff(d.given, r.before, r.after))
	}
	if !dry {
		b.WriteString(hashNote(contentHash(r.content)))
	}
	return b.String(), nil
}

// hashNote returns the beginning of a hash, which is enough to guard an edit.
func hashNote(hash string) string { return "[content_sha256 " + hash[:16] + "]\n" }
