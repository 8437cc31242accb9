package lint

import (
	"bytes"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
)

// tree returns the definition as it was written, an empty value if that is not
// known.
func (t *Tool) tree() *jsontree.Value {
	if t.written == nil {
		t.written = &jsontree.Value{}
		if t.Tool == nil {
			return t.written
		}
		raw, err := t.Raw, error(nil)
		if raw == nil {
			raw, err = t.MarshalJSON()
		}
		if v, broken := jsontree.ParseLenient(raw, maxLevels); err == nil && broken == nil {
			t.written = v
		}
	}
	return t.written
}

// part returns where p is in the definition of its tool.
func (p *problem) part() part {
	found, ok := find(p.tool.tree(), p.pointer)
	if ok && p.keyword != "" {
		if k, there := find(found.value, "/"+jsontree.EscapePointer(p.keyword)); there {
			return k
		}
	}
	return found
}

// A spot is a place in a file; lines and columns begin with 1.
type spot struct{ line, column, endLine, endColumn int }

// spot returns where p is in the file; ok is false if the tools are of none.
func (r *Report) spot(p *problem) (at spot, ok bool) {
	if r.File == nil {
		return spot{}, false
	}
	start, end := 0, 1
	if p.tool != nil {
		part := p.part()
		start, end = part.start(), part.end()
	}
	at.line, at.column = r.File.position(start)
	at.endLine, at.endColumn = r.File.position(end)
	return at, true
}

// excerpt returns the JSON that p is about on one line, "" if there is none.
func (p *problem) excerpt() string {
	if p.tool == nil {
		return ""
	}
	part := p.part()
	raw := part.value.Raw
	if len(raw) == 0 || p.pointer == "" {
		return ""
	}
	text := spaceJSON(raw[:min(len(raw), 1000)])
	if part.isMember() {
		text = string(wire.Quote(part.value.Name)) + ": " + text
	}
	return text
}

// spaceJSON writes JSON on one line, with spaces as people write it. An
// incomplete text is written up to where it ends.
func spaceJSON(raw []byte) string {
	var b bytes.Buffer
	text := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case text && c == '\\' && i+1 < len(raw):
			b.WriteByte(c)
			i++
			c = raw[i]
		case c == '"':
			text = !text
		case text:
		case strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		}
		b.WriteByte(c)
		if !text && (c == ',' || c == ':') {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
