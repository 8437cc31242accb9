package output

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// A viewing makes the view of one output.
type viewing struct {
	cache  *Cache
	tool   *toolpost.Tool
	holder string
	names  pair
	limit  limit
	blob   *blob // nil until something is stored
}

// store stores texts, valid UTF-8, as one output, each from a line of its own.
func (v *viewing) store(ctx context.Context, texts []string) {
	v.blob = v.cache.create(ctx, v.holder)
	for _, t := range texts {
		v.blob.write(bytesOf(t))
		if !strings.HasSuffix(t, "\n") && len(texts) > 1 {
			v.blob.write(newline)
		}
	}
	v.blob.commit(ctx, v.cache)
	if v.blob.err != nil {
		v.cache.opts.Logger.ErrorContext(ctx, "store output", "tool", v.tool.Name, "err", v.blob.err)
	}
}

// text returns the view of one text.
func (v *viewing) text(ctx context.Context, text string) string {
	v.store(ctx, []string{text})
	return newExcerpt(text, v.limit.chars).view(v.limit, v.blob.mark(v.names, 0))
}

// result returns r, or a view of it.
func (v *viewing) result(ctx context.Context, r *toolpost.Result) (*toolpost.Result, error) {
	v.limit = v.cache.limit(v.tool, r.IsError())
	if raw := hidden.EncodedOf(r).Raw; raw != nil && v.limit.surely(raw) {
		return r, nil
	}
	items, structured := itemsOf(r.Parts()), r.Structured()
	large := int64(len(structured)) > int64(v.limit.chars) && utf8.RuneCount(structured) > v.limit.chars
	if !large && v.limit.holds(sizes(items)) {
		return r, nil
	}
	var parts []toolpost.Part
	if large {
		whole := structured
		if parts, structured = v.fitStructured(ctx, items, whole); structured == nil && promises(v.tool, r) {
			structured = whole
		}
		if len(structured) > maxWhole {
			return withoutPromise(r.WithOutputRef(v.blob.ref), parts)
		}
	} else {
		p := newPlan(items, v.limit)
		v.store(ctx, p.keptTexts())
		parts = v.parts(p)
	}
	n, err := r.WithContent(parts, structured)
	if err == nil && v.blob.err == nil {
		n = n.WithOutputRef(v.blob.ref)
	}
	return n, err
}

// fitStructured returns parts and structured content that are within the limit.
// Where the parts say nothing else, the JSON is their text too.
func (v *viewing) fitStructured(ctx context.Context, items []item, whole json.RawMessage) ([]toolpost.Part, json.RawMessage) {
	pretty := jsontext.Value(bytes.Clone(whole))
	if pretty.Indent(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		pretty = jsontext.Value(whole)
	}
	items, alone := withoutEcho(items, whole)
	l := v.limit
	if l.chars -= noteRoom; alone {
		l.chars /= 2
	}
	p := newPlan(items, l)
	kept := p.keptTexts()
	base := linesOf(kept)
	v.store(ctx, append(kept, string(pretty)))
	s := newExcerpt(string(pretty), v.limit.chars)
	parts, note := v.parts(p), textPart(v.note(s, base))
	room := v.limit.chars - noteRoom
	if !alone {
		return append(parts, note), v.shape(whole, room)
	}
	chars, _ := sizes(items)
	room -= min(l.chars, int(chars))
	if shape := v.shape(whole, room); shape != nil {
		return append([]toolpost.Part{textPart(string(shape)), note}, parts...), shape
	}
	view := s.view(limit{room + noteRoom, v.limit.lines}, v.blob.mark(v.names, base))
	return append([]toolpost.Part{textPart(view)}, parts...), nil
}

// withoutEcho returns the items without a text that only has the JSON again;
// alone reports whether there is no other.
func withoutEcho(items []item, whole json.RawMessage) (others []item, alone bool) {
	text := func(it item) bool { return isText(it.part) }
	at := slices.IndexFunc(items, text)
	switch {
	case at < 0:
		return items, true
	case slices.ContainsFunc(items[at+1:], text) || items[at].lead() != "" || !isSameJSON(items[at].text, whole):
		return items, false
	}
	return slices.Delete(items, at, at+1), true
}

// noteRoom is enough for what is said of structured content, or of media.
const noteRoom = 320

// note reports whether structured content is shortened, which is kept from the line
// base on.
func (v *viewing) note(s *excerpt, base int64) string {
	text := fmt.Sprintf("[The JSON of %d characters is shortened: each … stands for a part that is left out; without any …, all of it is left out", s.chars)
	if why := v.blob.failure(); why != "" {
		return text + ", and lost: " + why + ". Call the tool again with narrower arguments]"
	}
	return fmt.Sprintf(`%s. Read it, in %d lines, with %s %s, or search with %s {"ref_id":"%s","pattern":"…"}]`,
		text, s.lines(), v.names.page, v.blob.readArguments(base), v.names.find, v.blob.ref)
}

// isSameJSON reports whether text is the JSON value.
func isSameJSON(text string, value json.RawMessage) bool {
	if text == string(value) {
		return true
	}
	if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed[0] != value[0] {
		return false
	}
	a, b := jsontext.Value(text), bytes.Clone(value)
	c := jsontext.Value(b)
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	return a.Compact(opts...) == nil && c.Compact(opts...) == nil && bytes.Equal(a, c)
}
