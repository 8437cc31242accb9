package dialect

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// schema fits the descriptions inside a schema, which was made of original.
// Everything that it does not change keeps its bytes. A loss is where the original has
// the text, else at the same place, else at the root.
func (x *textLimits) schema(raw, original json.RawMessage) (json.RawMessage, []Loss) {
	if x.SchemaMax <= 0 && x.Lines <= 0 && x.Forbid == "" {
		return raw, nil
	}
	var out []byte
	copied := 0
	losses := lossesByPlace{original: original}
	descriptions(raw, func(d description) {
		name := ""
		if len(d.path) > 0 {
			last := d.path[len(d.path)-1]
			name = jsontree.UnescapePointer(last[strings.LastIndexByte(last, '/')+1:])
		}
		f := x.fitNamed(name, d.text, x.SchemaMax)
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
	path       []string // parts of the pointer to the schema object; good for the time of the visit
	text       string
	start, end int // of its bytes
}

func (d description) pointer() string { return strings.Join(d.path, "") }

// lossesByPlace finds the places of losses in the original.
type lossesByPlace struct {
	original json.RawMessage
	byText   map[string][]string // pointers of descriptions in the original
	known    map[string]bool     // all of these pointers
	seen     map[string]bool     // pointers that have a loss
	all      []Loss
}

func (l *lossesByPlace) add(d description, f fittedText) {
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
// in order. Names of properties, enum values and defaults are not descriptions.
func descriptions(raw json.RawMessage, visit func(description)) {
	if v, broken := jsontree.ParseLenient(raw, maxLevels); broken == nil {
		walker{visit}.schema(v, nil)
	}
}

// A walker walks through the schemas inside a schema.
type walker struct{ visit func(description) }

func (w walker) schema(v *jsontree.Value, path []string) {
	for _, k := range v.Members() {
		if k.Name == "description" && k.Kind == jsontree.KindString {
			w.visit(description{path, k.Text, k.Start, k.Start + len(k.Raw)})
			continue
		}
		for token, kid := range shape.Subschemas(k) {
			w.schema(kid, append(path, "/"+k.Name+token)) // keywords need no escape
		}
	}
}
