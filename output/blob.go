package output

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/store"
)

// A reference may name one line of the output, counted from 1.
var refForm = lazyregexp.New(`^([a-z2-7]{16})(?:@([1-9][0-9]{0,17}))?$`)

// A blob is output that is being stored. Its methods do not fail; err
// keeps the first error.
type blob struct {
	ref string
	w   store.Writer
	err error
}

func (c *Cache) create(ctx context.Context, holder string) *blob {
	b := &blob{ref: strings.ToLower(rand.Text()[:hidden.RefSize])}
	b.w, b.err = c.store.Create(ctx, hidden.OutputName(holder, b.ref))
	return b
}

func (b *blob) write(p []byte) {
	if b.err == nil {
		_, b.err = b.w.Write(p)
	}
}

// availableBuffer returns room for what is written next, which saves a copy; nil if there
// is none.
func (b *blob) availableBuffer() []byte {
	if w, ok := b.w.(interface{ AvailableBuffer() []byte }); ok && b.err == nil {
		return w.AvailableBuffer()
	}
	return nil
}

// commit keeps the blob, or drops it.
func (b *blob) commit(ctx context.Context, c *Cache) {
	if b.w == nil {
		return
	}
	if b.err == nil {
		_, b.err = b.w.Commit()
	}
	if err := b.w.Close(); b.err == nil && err != nil {
		c.opts.Logger.WarnContext(ctx, "close stored output", "err", err)
	}
	b.w = nil
}

// drop gives the blob up, before it is committed.
func (b *blob) drop() {
	if b.w != nil {
		_ = b.w.Close() // nothing of it is kept
		b.w = nil
	}
}

// failure is why the blob is not there, for the model; empty if it is.
func (b *blob) failure() string {
	switch {
	case b.err == nil:
		return ""
	case errors.Is(b.err, store.ErrFull):
		return "it is more than the output cache holds"
	}
	return "the output cache cannot be written"
}

// An openOutput is an output that is open, and the line that the reference
// names, 0 for none.
type openOutput struct {
	store.Blob
	ref  string
	line int64
}

// open opens what a reference names that the caller holds.
func (c *Cache) open(ctx context.Context, ref string) (*openOutput, error) {
	unknown := toolpost.Retry.Errorf("no output has the ref_id %.60q: it has expired, or belongs to another session. "+
		"Call the tool that produced it again, with narrower arguments, and use the ref_id of the new result.", ref)
	m := refForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(ref)))
	if m == nil {
		return nil, unknown
	}
	b, err := c.store.Open(ctx, hidden.OutputName(toolpost.CallFrom(ctx).Session, m[1]))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, unknown
	case err != nil:
		c.opts.Logger.ErrorContext(ctx, "open stored output", "err", err)
		return nil, toolpost.Failed.Errorf("the output cache cannot be read: call the tool that produced the output again, with narrower arguments")
	}
	line, _ := strconv.ParseInt(m[2], 10, 64) // empty is 0
	if line > b.Info().Lines {
		lines := b.Info().Lines
		_ = b.Close()
		return nil, toolpost.Retry.Errorf("the output %s has only %d lines, so it has no line %d: give a smaller number after @", m[1], lines, line)
	}
	return &openOutput{b, m[1], line}, nil
}

// readArguments returns the arguments that read the output from a line on.
func (b *blob) readArguments(line int64) string {
	if line == 0 {
		return fmt.Sprintf(`{"ref_id":"%s"}`, b.ref)
	}
	return fmt.Sprintf(`{"ref_id":"%s","offset":%d}`, b.ref, line)
}

// mark says what a view leaves out, and how to read it. Base is how many lines
// of the stored output come before the text.
func (b *blob) mark(names pair, base int64) func(gap) string {
	return func(g gap) string {
		s := fmt.Sprintf("[… %d of %d lines, %d of %d characters, are left out here", g.lines, g.ofLines, g.chars, g.ofChars)
		if why := b.failure(); why != "" {
			return s + " and lost: " + why + ". Call the tool again with narrower arguments …]"
		}
		next := fmt.Sprintf(`{"ref_id":"%s","offset":%d}`, b.ref, base+g.line)
		if g.char > 0 {
			next = fmt.Sprintf(`{"ref_id":"%s@%d","offset":%d}`, b.ref, base+g.line+1, g.char)
		}
		return fmt.Sprintf(`%s. Read on with %s %s, or search with %s {"ref_id":"%s","pattern":"…"} …]`, s, names.page, next, names.find, b.ref)
	}
}
