package output

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
)

// An item is a part of a result as a view counts it.
type item struct {
	part  toolpost.Part
	media bool   // its data is shown by clients, and does not count
	frame string // its JSON without its text, and without the data of media
	text  string // of one that is read as a text
}

// plain is the frame of a text that is nothing else.
const plain = `{"type":"text","text":""}`

func newItem(p toolpost.Part) item {
	it := item{part: p, media: isMedia(p)}
	if isText(p) {
		it.text = valid(p.Text)
	}
	it.frame = valid(string(framed(p, it.media, "")))
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

// chars is what the part costs its reader.
func (it item) chars() int {
	return utf8.RuneCountInString(it.frame) + utf8.RuneCountInString(it.text)
}

// rows counts a part without a text as a line.
func (it item) rows() int { return max(1, int(lines(it.text))) }

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
	return valid(string(framed(it.part, false, it.part.Text)))
}

// framed returns the JSON of a part in one line, with another text if it is
// one, and without the data of media.
func framed(p toolpost.Part, media bool, text string) json.RawMessage {
	if p.Raw != nil {
		f := &framer{part: p, media: media, text: text, in: reader(p.Raw)}
		if err := f.object(p.Type == "resource"); err != nil {
			return p.Raw
		}
		return f.out
	}
	if isText(p) {
		p.Text = text
	}
	if media {
		p.Data = nil
	}
	raw, _ := p.MarshalJSON() // who encodes the result is told
	return raw
}

// A framer copies a block.
type framer struct {
	part  toolpost.Part
	media bool
	text  string
	in    *jsontext.Decoder
	out   []byte
	found bool // what is to be replaced; another member of that name stays, and counts
}

// object copies one; a resource has another in it.
func (f *framer) object(resource bool) error {
	if _, err := f.in.ReadToken(); err != nil {
		return err
	}
	f.out = append(f.out, '{')
	for first := true; f.in.PeekKind() != '}'; first = false {
		name, err := f.in.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if !first {
			f.out = append(f.out, ',')
		}
		f.out = append(appendQuoted(f.out, key), ':')
		if resource && key == "resource" && f.in.PeekKind() == '{' {
			err = f.object(false)
		} else {
			err = f.value(key)
		}
		if err != nil {
			return err
		}
	}
	_, err := f.in.ReadToken()
	f.out = append(f.out, '}')
	return err
}

func (f *framer) value(key string) error {
	raw, err := f.in.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case f.found || raw.Kind() != '"':
	case key == "text" && isText(f.part) && holds(raw, f.part.Text):
		f.found, f.out = true, appendQuoted(f.out, f.text)
		return nil
	case f.media && (key == "data" || key == "blob") && len(raw) <= 2*base64.StdEncoding.EncodedLen(len(f.part.Data))+2:
		f.found, f.out = true, append(f.out, `""`...)
		return nil
	}
	line := jsontext.Value(bytes.Clone(raw))
	if line.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		line = raw
	}
	f.out = append(f.out, line...)
	return nil
}

// holds reports whether a JSON string can be that of text: it has at most six
// bytes for each of text.
func holds(raw jsontext.Value, text string) bool {
	least := len(text) - 2*strings.Count(text, string(replacement)) // a byte that is no UTF-8 has become three
	return text != "" && len(raw) > least && len(raw) <= 6*len(text)+2
}

func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error tells of replaced bytes
	return b
}

// sizes are those of all together. The frame of one text is no cost: it is
// that of every result.
func sizes(items []item) (chars, rows int64) {
	for _, it := range items {
		chars += int64(it.chars())
		rows += int64(it.rows())
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
