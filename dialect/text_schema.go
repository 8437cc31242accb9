package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/lower"
)

// schema fits the descriptions inside a schema, which was made of original.
// What it does not change keeps its bytes. A loss is where the original has
// the text, else at the same place, else at the root.
func (x *Text) schema(raw, original json.RawMessage) (json.RawMessage, []lower.Loss) {
	if x.SchemaMax <= 0 && x.Lines <= 0 && x.Forbid == "" {
		return raw, nil
	}
	var out []byte
	copied := 0
	losses := lossesByPlace{original: original}
	descriptions(raw, func(d description) {
		name := ""
		if len(d.path) > 0 {
			name = d.path[len(d.path)-1]
		}
		f := x.told(name, d.text, x.SchemaMax)
		if f.text == d.text {
			return
		}
		losses.add(d, f)
		out = append(out, raw[copied:d.start]...)
		out, _ = jsontext.AppendQuote(out, f.text)
		copied = d.end
	})
	if copied == 0 {
		return raw, nil
	}
	return append(out, raw[copied:]...), losses.all
}

// A description is one inside a schema.
type description struct {
	path       []string // to the schema object; good for the time of the visit
	text       string
	start, end int // of its bytes
}

func (d description) pointer() string {
	var b strings.Builder
	for _, token := range d.path {
		b.WriteString("/" + escapePointer(token))
	}
	return b.String()
}

// lossesByPlace finds the places of losses in the original.
type lossesByPlace struct {
	original json.RawMessage
	byText   map[string][]string // pointers of descriptions in the original
	known    map[string]bool     // all of these pointers
	seen     map[string]bool     // pointers that have a loss
	all      []lower.Loss
}

func (l *lossesByPlace) add(d description, f fitted) {
	if l.seen == nil {
		l.byText, l.known, l.seen = map[string][]string{}, map[string]bool{}, map[string]bool{}
		descriptions(l.original, func(d description) {
			p := d.pointer()
			l.byText[d.text] = append(l.byText[d.text], p)
			l.known[p] = true
		})
	}
	places := l.byText[d.text]
	if places == nil {
		places = []string{""}
		if p := d.pointer(); l.known[p] {
			places = []string{p}
		}
	}
	for _, p := range places {
		if !l.seen[p] {
			l.seen[p] = true
			l.all = append(l.all, f.loss(p, "the description"))
		}
	}
}

// descriptions visits every description of a schema and of those inside it,
// in order. Names of properties, enum values and defaults are none.
func descriptions(raw json.RawMessage, visit func(description)) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	w := walker{d: d, visit: visit}
	w.schema()
}

// A walker walks through a schema. It stops where that is no JSON.
type walker struct {
	d     *jsontext.Decoder
	visit func(description)
	path  []string
	err   error
}

// schema walks through one schema, or skips what is none.
func (w *walker) schema() { w.members(w.keyword) }

func (w *walker) keyword(name string) {
	list := w.d.PeekKind() == '['
	switch s := shape.Of(name); {
	case name == "description":
		w.describe()
	case s == shape.Table, s == shape.Dependencies:
		w.members(func(string) { w.schema() })
	case list && (s == shape.Items || s == shape.Schemas):
		w.elements()
	case s == shape.Schema, s == shape.Items:
		w.schema()
	default:
		w.skip()
	}
}

func (w *walker) describe() {
	text := w.d.PeekKind() == '"'
	raw := w.skip()
	if w.err != nil || !text {
		return
	}
	unquoted, _ := jsontext.AppendUnquote(nil, raw) // its only error is a replacement
	end := int(w.d.InputOffset())
	w.visit(description{w.path[:len(w.path)-1], string(unquoted), end - len(raw), end})
}

// members calls each for the members of an object, and skips anything else.
func (w *walker) members(each func(name string)) {
	if w.d.PeekKind() != '{' {
		w.skip()
		return
	}
	w.token()
	for w.err == nil && w.d.PeekKind() == '"' {
		name := w.token()
		w.path = append(w.path, name)
		each(name)
		w.path = w.path[:len(w.path)-1]
	}
	w.token()
}

// elements walks through a list of schemas.
func (w *walker) elements() {
	w.token()
	for i := 0; w.err == nil && w.d.PeekKind() != ']'; i++ {
		w.path = append(w.path, strconv.Itoa(i))
		w.schema()
		w.path = w.path[:len(w.path)-1]
	}
	w.token()
}

func (w *walker) token() string {
	t, err := w.d.ReadToken()
	if err != nil {
		w.err = err
		return ""
	}
	return t.String()
}

func (w *walker) skip() jsontext.Value {
	raw, err := w.d.ReadValue()
	if err != nil {
		w.err = err
	}
	return raw
}
