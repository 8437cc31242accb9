package lint

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// source returns the definition as it was written.
func (t *Tool) source() json.RawMessage {
	switch {
	case t.raw != nil:
		return t.raw
	case t.Tool == nil:
		return nil
	case t.Source != nil:
		return t.Source
	}
	raw, err := t.MarshalJSON()
	if err != nil {
		return nil
	}
	return raw
}

// part returns where p is in the source of its tool.
func (p *problem) part() jsonPart {
	if p.tool.doc == nil {
		p.tool.doc = newJSONDoc(p.tool.source())
	}
	found, ok := p.tool.doc.find(p.pointer)
	if ok && p.keyword != "" {
		if k, there := p.tool.doc.inside(found, p.keyword); there {
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
		start, end = p.tool.start+part.at, p.tool.start+part.end
	}
	at.line, at.column = r.File.Position(start)
	at.endLine, at.endColumn = r.File.Position(end)
	return at, true
}

// excerpt returns the JSON that p is about on one line, "" if there is none.
func (p *problem) excerpt() string {
	if p.tool == nil {
		return ""
	}
	part, raw := p.part(), p.tool.doc.raw
	if part.start >= part.end || p.pointer == "" {
		return ""
	}
	text := spaced(raw[part.start:min(part.end, part.start+1000)])
	if part.at < part.start {
		text = string(wire.Quote(part.name)) + ": " + text
	}
	return text
}

// spaced writes JSON on one line, with spaces as people write it. An
// incomplete text is written up to where it ends.
func spaced(raw []byte) string {
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
