package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Adapted is the tools of a source as one client or model gets them.
type Adapted struct {
	*dialect.Adapted
	origins map[*toolpost.Tool]*Tool          // by original
	repairs map[*toolpost.Tool][]dialect.Loss // what was lost before adapting, by original
	fates   map[*Tool]*fate
}

// A fate is what adapting did to one tool.
type fate struct {
	withheld string                     // why; "" if it is not
	losses   map[lossPlace]dialect.Loss // the first of each place
}

// A lossPlace is a keyword of the schema at a pointer, or with the keyword "" all
// of them.
type lossPlace struct{ pointer, keyword string }

func newFate(losses []dialect.Loss) *fate {
	f := &fate{losses: make(map[lossPlace]dialect.Loss, 2*len(losses))}
	for _, l := range losses {
		for _, at := range []lossPlace{{l.Pointer, l.Keyword}, {l.Pointer, ""}} {
			if _, known := f.losses[at]; !known {
				f.losses[at] = l
			}
		}
	}
	return f
}

// loss returns the loss for the place of p.
func (f *fate) loss(p *problem) (l dialect.Loss, ok bool) {
	for _, member := range []string{"name", "description", "outputSchema"} {
		if strings.HasPrefix(p.pointer, "/"+member) {
			l, ok = f.losses[lossPlace{"", member}]
			return l, ok
		}
	}
	if l, ok = f.losses[lossPlace{"", "inputSchema"}]; ok {
		return l, true
	}
	pointer, inside := strings.CutPrefix(p.pointer, "/inputSchema")
	if !inside {
		return l, false
	}
	l, ok = f.losses[lossPlace{pointer, p.keyword}]
	return l, ok
}

// Losses returns what a tool lost, in reading it and in adapting it.
func (a *Adapted) Losses(t *dialect.Tool) []dialect.Loss {
	return slices.Concat(a.repairs[t.Original], t.Losses)
}

// Adapt adapts the tools of a source to one dialect.
func Adapt(src *Source, d *dialect.Dialect, opts *dialect.Options) *Adapted {
	a := &Adapted{origins: map[*toolpost.Tool]*Tool{}, repairs: map[*toolpost.Tool][]dialect.Loss{}, fates: map[*Tool]*fate{}}
	rules := rulesByName()
	var tools []*toolpost.Tool
	var unread []dialect.Withheld
	for _, t := range src.Tools {
		if t.Tool != nil {
			original, losses := t.toolToAdapt()
			a.origins[original], a.repairs[original] = t, losses
			tools = append(tools, original)
			continue
		}
		for _, f := range t.findings(d, rules) {
			unread = append(unread, dialect.Withheld{Name: f.Tool, Rule: f.Rule, Why: f.Message})
			a.fates[t] = &fate{withheld: f.Message}
		}
	}
	a.Adapted = d.Adapt(tools, opts)
	a.addFates(tools)
	a.Withheld = append(a.Withheld, unread...)
	return a
}

// addFates separates the tools that are withheld, which are in the order of all,
// from the others.
func (a *Adapted) addFates(tools []*toolpost.Tool) {
	for _, t := range a.Tools {
		a.fates[a.origins[t.Original]] = newFate(a.Losses(t))
	}
	withheld := a.Withheld
	for _, t := range tools {
		if origin := a.origins[t]; a.fates[origin] == nil && len(withheld) > 0 {
			a.fates[origin] = &fate{withheld: withheld[0].Why}
			withheld = withheld[1:]
		}
	}
}

func rulesByName() map[string]*dialect.Rule {
	rules := map[string]*dialect.Rule{}
	for _, r := range dialect.Rules() {
		rules[r.Name] = r
	}
	return rules
}

// Fix writes the adapted tools as the result of tools/list.
func (a *Adapted) Fix(w io.Writer) error {
	list := struct {
		Tools []json.RawMessage `json:"tools"`
	}{[]json.RawMessage{}}
	for _, t := range a.Tools {
		raw, err := t.Definition.MarshalJSON()
		if err != nil {
			return err
		}
		list.Tools = append(list.Tools, raw)
	}
	return writeIndented(w, list)
}

// Write writes one tool a line, with what was lost, and what is withheld. The
// bytes of schemas are those that are sent.
func (a *Adapted) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for i, t := range a.Tools {
		b.WriteString(separator(i))
		schema := json.RawMessage("null")
		if t.Input != nil {
			schema = t.Input.Raw()
		}
		losses, err := encode(orEmpty(a.Losses(t)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, `{"name":%s,"original_name":%s,"description":%s,"input_schema":%s,"strict":%t,"losses":%s}`,
			wire.Quote(t.Name), wire.Quote(t.Original.Name), wire.Quote(t.Description), schema, t.Strict, losses)
	}
	withheld, err := encode(orEmpty(a.Withheld))
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n],\"withheld\":%s}\n", withheld)
	_, err = w.Write(b.Bytes())
	return err
}

func separator(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// encode writes JSON without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
