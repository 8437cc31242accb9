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
)

// A viewing makes the view of one output.
type viewing struct {
	cache   *Cache
	tool    *toolpost.Tool
	session string
	names   pair
	limit   limit
	blob    *blob // nil until something is stored
}

// store stores texts, valid UTF-8, as one output, each from a line of its own.
func (v *viewing) store(ctx context.Context, texts []string) {
	v.blob = v.cache.create(ctx, v.session)
	for _, t := range texts {
		v.blob.text(t)
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
	return sketched(text, v.limit.chars).view(v.limit, v.blob.mark(v.names, 0))
}

// result returns r, or a view of it.
func (v *viewing) result(ctx context.Context, r *toolpost.Result) (*toolpost.Result, error) {
	v.limit = v.cache.limit(v.tool, r.IsError())
	if raw := toolpost.Sent(r); raw != nil && v.small(raw) {
		return r, nil
	}
	texts := textsOf(r.Parts())
	structured := r.Structured()
	large := int64(len(structured)) > int64(v.limit.chars) && utf8.RuneCount(structured) > v.limit.chars
	if !large && v.limit.holds(sizes(texts)) {
		return r, nil
	}
	parts := r.Parts()
	if large {
		parts, structured = v.structured(ctx, parts, texts, structured)
	} else {
		v.store(ctx, texts)
		parts = v.parts(parts, texts)
	}
	n, err := toolpost.WithContent(r, parts, structured)
	if err == nil && v.blob.err == nil {
		n = n.WithOutputRef(v.blob.ref)
	}
	return n, err
}

// small says that raw, which is not decoded for that, is within the limit: a
// line break in it has at least two characters.
func (v *viewing) small(raw json.RawMessage) bool {
	return len(raw) <= v.limit.chars && (len(raw) < 2*v.limit.lines ||
		bytes.Count(raw, []byte(`\n`))+bytes.Count(raw, []byte(`\u000`)) < v.limit.lines)
}

// isText says that a part is read as a text.
func isText(p toolpost.Part) bool {
	return p.Type == "text" || p.Type == "resource" && p.Text != ""
}

// valid returns the text as UTF-8; most is.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, string(replacement))
}

func textsOf(parts []toolpost.Part) []string {
	var texts []string
	for _, p := range parts {
		if isText(p) {
			texts = append(texts, valid(p.Text))
		}
	}
	return texts
}

func lines(text string) int64 {
	n := int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func sizes(texts []string) (chars, rows int64) {
	for _, t := range texts {
		chars += int64(utf8.RuneCountInString(t))
		rows += lines(t)
	}
	return chars, rows
}

// parts returns the parts with views of the texts, which are stored. Each gets
// a fair share; if that is too little for a view, all become one.
func (v *viewing) parts(parts []toolpost.Part, texts []string) []toolpost.Part {
	chars, rows := make([]int, len(texts)), make([]int, len(texts))
	for i, t := range texts {
		chars[i], rows[i] = utf8.RuneCountInString(t), int(lines(t))
	}
	share, spare := fair(chars, v.limit.chars)
	most, _ := fair(rows, v.limit.lines)
	out := slices.Clone(parts)
	n, base := 0, int64(0)
	for i, p := range parts {
		if !isText(p) {
			continue
		}
		l := limit{min(share, chars[n]+spare), most}
		if !l.holds(int64(chars[n]), int64(rows[n])) {
			if l.chars < MinChars || l.lines < MinLines {
				return v.joined(parts, texts)
			}
			out[i] = shown(p, sketched(texts[n], l.chars).view(l, v.blob.mark(v.names, base)))
		}
		base += max(1, int64(rows[n]))
		n++
	}
	return out
}

// shown returns p with another text.
func shown(p toolpost.Part, text string) toolpost.Part {
	p.Text, p.Raw = text, nil
	return p
}

// joined returns the parts with one view of all texts in place of the first.
func (v *viewing) joined(parts []toolpost.Part, texts []string) []toolpost.Part {
	s := &sketch{room: v.limit.chars}
	for _, t := range texts {
		for p := range pieces(t) {
			s.add(p)
		}
		if !strings.HasSuffix(t, "\n") {
			s.add(newline)
		}
	}
	var out []toolpost.Part
	first := true
	for _, p := range parts {
		if !isText(p) {
			out = append(out, p)
		} else if first {
			first = false
			out = append(out, toolpost.Part{Type: "text", Text: s.view(v.limit, v.blob.mark(v.names, 0))})
		}
	}
	return out
}

// fair returns the share of each, so that with what is less as it is, all are
// within the room; if all are less, spare is what is left for each.
func fair(sizes []int, room int) (share, spare int) {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, n := range sorted {
		if share = room / (len(sorted) - i); n > share {
			return share, 0
		}
		room -= n
	}
	spare = room / len(sorted)
	return sorted[len(sorted)-1] + spare, spare
}

// structured returns parts and structured content that are within the limit.
func (v *viewing) structured(ctx context.Context, parts []toolpost.Part, texts []string, whole json.RawMessage) ([]toolpost.Part, json.RawMessage) {
	pretty := jsontext.Value(bytes.Clone(whole))
	if pretty.Indent(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		pretty = jsontext.Value(whole)
	}
	echo := len(texts) == 1 && same(texts[0], whole)
	if len(texts) == 0 || echo {
		v.store(ctx, []string{string(pretty)})
	} else {
		v.store(ctx, append(slices.Clone(texts), string(pretty)))
	}
	s := sketched(string(pretty), v.limit.chars)
	note := v.note(s)
	size := utf8.RuneCountInString(note)
	shape := v.shape(whole, v.limit.chars-size)
	switch {
	case len(texts) > 0 && !echo:
		v.limit.chars -= size
		if !v.limit.holds(sizes(texts)) {
			parts = v.parts(parts, texts)
		}
		return append(slices.Clone(parts), toolpost.Part{Type: "text", Text: note}), shape
	case shape == nil:
		return replaced(parts, s.view(v.limit, v.blob.mark(v.names, 0))), nil
	}
	return replaced(parts, string(shape), note), shape
}

// replaced returns parts with other texts in place of the one that there may be.
func replaced(parts []toolpost.Part, texts ...string) []toolpost.Part {
	var out []toolpost.Part
	for _, t := range texts {
		out = append(out, toolpost.Part{Type: "text", Text: t})
	}
	for _, p := range parts {
		if !isText(p) {
			out = append(out, p)
		}
	}
	return out
}

// note says that structured content is shortened.
func (v *viewing) note(s *sketch) string {
	text := fmt.Sprintf("[The JSON of %d characters is shortened: something is left out at each …, or all of it if there is none", s.chars)
	if why := v.blob.failure(); why != "" {
		return text + ", and lost: " + why + ". Call the tool again with narrower arguments]"
	}
	return fmt.Sprintf(`%s. Read it, in %d lines, with %s {"ref_id":"%s"}, or search with %s {"ref_id":"%s","pattern":"…"}]`,
		text, s.lines(), v.names.page, v.blob.ref, v.names.find, v.blob.ref)
}

// same says that text is the JSON value.
func same(text string, value json.RawMessage) bool {
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
