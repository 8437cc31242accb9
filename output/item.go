package output

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// An item is a part of a result as a view counts it.
type item struct {
	part  toolpost.Part
	media bool   // its data is shown by clients, and does not count
	frame string // its JSON without its text, and without the data of media
	text  string // of one that is read as a text
	chars int    // what the part costs its reader
	rows  int    // a part without a text counts as a line
}

// plain is the frame of a text that is nothing else.
const (
	plain       = plainBefore + `""}`
	plainBefore = `{"type":"text","text":`
)

func newItem(p toolpost.Part) item {
	it := item{part: p, media: isMedia(p)}
	if isText(p) {
		it.text = valid(p.Text)
	}
	it.frame = valid(string(partJSON(p, it.media, "")))
	it.chars = runes(bytesOf(it.frame)) + runes(bytesOf(it.text))
	it.rows = max(1, int(lines(it.text)))
	return it
}

func itemsOf(parts []toolpost.Part) []item {
	items := make([]item, len(parts))
	for i, p := range parts {
		items[i] = newItem(p)
	}
	return items
}

// isText reports whether a part is read as a text.
func isText(p toolpost.Part) bool {
	return p.Type == "text" || p.Type == "resource" && p.Text != ""
}

// isMedia reports whether clients show the data of a part as what it is.
func isMedia(p toolpost.Part) bool {
	return len(p.Data) > 0 && p.Text == "" && (p.Type == "image" || p.Type == "audio" || p.Type == "resource")
}

// lead is what is kept before the text.
func (it item) lead() string {
	switch {
	case it.frame == plain || it.frame == `{"text":"","type":"text"}`:
		return ""
	case it.text == "":
		return it.frame
	}
	return it.frame + "\n"
}

// body is the part as it is kept.
func (it item) body() string { return it.lead() + it.text }

// block is the whole part as one line of JSON.
func (it item) block() string {
	return valid(string(partJSON(it.part, false, it.part.Text)))
}

// partJSON returns the JSON of a part in one line, with another text if it is
// one, and without the data of media.
func partJSON(p toolpost.Part, media bool, text string) json.RawMessage {
	if p.Raw != nil {
		if quoted, ok := wire.TextBlock(p.Raw); ok && holds(quoted, p.Text) {
			return append(wire.AppendQuote(append(make([]byte, 0, len(text)+len(text)/16+200), plainBefore...), text), '}')
		}
		if !wire.IsObject(p.Raw) || !wire.Valid(p.Raw) {
			return p.Raw
		}
		f := &framer{part: p, media: media, text: text, out: make([]byte, 0, len(text)+len(text)/16+200)}
		f.object(p.Raw, p.Type == "resource")
		return f.out
	}
	if isText(p) {
		p.Text = text
	}
	if media {
		p.Data = nil
	}
	raw, _ := p.MarshalJSON() // encoding the result returns the same error
	return raw
}

// A framer copies a block.
type framer struct {
	part  toolpost.Part
	media bool
	text  string
	out   []byte
	found bool // what is to be replaced; another member of that name stays, and counts
}

// object copies one; a resource has another in it.
func (f *framer) object(raw json.RawMessage, resource bool) {
	separator := byte('{')
	for key, value := range wire.Members(raw) {
		f.out = append(wire.AppendQuote(append(f.out, separator), key), ':')
		separator = ','
		if resource && key == "resource" && value[0] == '{' {
			f.object(value, false)
		} else {
			f.value(key, value)
		}
	}
	if separator == '{' {
		f.out = append(f.out, '{')
	}
	f.out = append(f.out, '}')
}

func (f *framer) value(key string, raw json.RawMessage) {
	if raw[0] != '"' {
		line := jsontext.Value(bytes.Clone(raw))
		if line.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
			line = jsontext.Value(raw)
		}
		f.out = append(f.out, line...)
		return
	}
	switch {
	case f.found:
		f.out = append(f.out, raw...)
	case key == "text" && isText(f.part) && holds(raw, f.part.Text):
		f.found, f.out = true, wire.AppendQuote(f.out, f.text)
	case f.media && (key == "data" || key == "blob") && len(raw) <= 2*base64.StdEncoding.EncodedLen(len(f.part.Data))+2:
		f.found, f.out = true, append(f.out, `""`...)
	default:
		f.out = append(f.out, raw...)
	}
}

// holds reports whether a JSON string can be that of text: it has at most six
// bytes for each of text.
func holds(raw json.RawMessage, text string) bool {
	if text == "" || len(raw) > 6*len(text)+2 {
		return false
	}
	return len(raw) > len(text) || len(raw) > len(text)-2*strings.Count(text, string(replacement)) // a byte that is not UTF-8 has become three
}

// sizes returns the sizes of all items together. The frame of one text does not
// count: every result has it.
func sizes(items []item) (chars, rows int64) {
	for _, it := range items {
		chars += int64(it.chars)
		rows += int64(it.rows)
	}
	return max(0, chars-int64(len(plain))), rows
}

// bodies are the items as they are kept.
func bodies(items []item) []string {
	var all []string
	for _, it := range items {
		if !it.media {
			all = append(all, it.body())
		}
	}
	return all
}

// linesOf counts those of texts that are kept together.
func linesOf(texts []string) (n int64) {
	for _, t := range texts {
		n += max(1, lines(t))
	}
	return n
}

func lines(text string) int64 {
	n := int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// valid returns the text as UTF-8; most is.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, string(replacement))
}
