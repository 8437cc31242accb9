package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// mediaTokens is what an image or a document costs, roughly.
const mediaTokens = 1500

// mediaForm is the form of a reference to an image, a sound or a document.
var mediaForm = lazyregexp.New(`^media-([a-z2-7]{16})$`)

// mediaHolder keeps media apart from texts, so that no text can pass for one.
func mediaHolder(holder string) string { return "media of " + holder }

// trimMedia stores an image, a sound or a document, and returns the text that
// replaces it. If it cannot be stored, it remains.
func (x *Trimmer) trimMedia(ctx context.Context, p toolpost.Part) toolpost.Part {
	raw, err := p.MarshalJSON()
	if err != nil {
		return p
	}
	b := x.Cache.create(ctx, mediaHolder(x.Session))
	b.write(raw)
	b.commit(ctx, x.Cache)
	if b.err != nil {
		x.Cache.opts.Logger.WarnContext(ctx, "media not trimmed", "err", b.err)
		return p
	}
	return textPart(fmt.Sprintf(`[%s of type %q trimmed: %d bytes; see it with %s {"ref_id":"media-%s"}]`, p.Type, p.MIMEType, len(p.Data), pageName, b.ref))
}

// readMedia returns the part that a reference names. It reports whether the
// reference has the form of one to media.
func (c *Cache) readMedia(ctx context.Context, ref string) (result *toolpost.Result, is bool, err error) {
	m := mediaForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(ref)))
	if m == nil {
		return nil, false, nil
	}
	b, err := c.store.Open(ctx, hidden.OutputName(mediaHolder(toolpost.CallFrom(ctx).Session), m[1]))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, toolpost.Retry.Errorf("nothing has the ref_id %.60q: it has expired, or belongs to another session. Call the tool that produced it again.", ref)
	}
	var part toolpost.Part
	if err == nil {
		var raw []byte
		raw, err = io.ReadAll(io.NewSectionReader(b, 0, b.Info().Size))
		if err = errors.Join(err, b.Close()); err == nil {
			err = part.UnmarshalJSON(raw)
		}
	}
	if err != nil {
		c.opts.Logger.ErrorContext(ctx, "read stored media", "err", err)
		return nil, true, toolpost.Failed.Errorf("it can no longer be read: call the tool that produced it again")
	}
	return toolpost.NewResult(part), true, nil
}
