package recording

import (
	"cmp"
	"encoding/json"
	"github.com/toolpost/toolpost/internal/jsontree"
	"slices"

	"github.com/toolpost/toolpost/internal/wire"
)

// A Difference is what two recordings differ in. The order of lists and of the
// members of definitions does not matter.
type Difference struct {
	Tools     []*ItemDifference `json:"tools"`
	Prompts   []*ItemDifference `json:"prompts"`
	Resources []*ItemDifference `json:"resources"` // and templates
	Calls     []*CallDifference `json:"calls"`
}

// A Change is how something differs.
type Change string

// The changes.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Changed Change = "changed"
)

// An ItemDifference is a tool, prompt or resource that differs.
type ItemDifference struct {
	Name     string          `json:"name"` // or the URI
	Change   Change          `json:"change"`
	Breaking []string        `json:"breaking,omitempty"` // why calls that were right may fail now
	Before   json.RawMessage `json:"before,omitempty"`   // the definition
	After    json.RawMessage `json:"after,omitempty"`
}

// A CallDifference is a call whose answer differs, or that only one recording has.
type CallDifference struct {
	Method string          `json:"method"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args,omitempty"`
	Number int             `json:"number"` // 2 for the second call with these arguments
	Change Change          `json:"change"`
	Before json.RawMessage `json:"before,omitempty"` // the result, or {"error": …}
	After  json.RawMessage `json:"after,omitempty"`
}

// Compare compares a recording with a later one. Calls are compared only if both
// recordings have some: otherwise one of them is just a catalogue.
func Compare(before, after *Recording) *Difference {
	a, b := before.Catalogue, after.Catalogue
	d := &Difference{
		Tools:     compareItems(a.Tools, b.Tools, "name"),
		Prompts:   compareItems(a.Prompts, b.Prompts, "name"),
		Resources: append(compareItems(a.Resources, b.Resources, "uri"), compareItems(a.Templates, b.Templates, "uriTemplate")...),
		Calls:     []*CallDifference{},
	}
	for _, t := range d.Tools {
		switch t.Change {
		case Removed:
			t.Breaking = []string{"the tool is removed"}
		case Changed:
			t.Breaking = breaking(wire.Get(t.Before, "inputSchema"), wire.Get(t.After, "inputSchema"))
		}
	}
	if len(before.Calls) > 0 && len(after.Calls) > 0 {
		d.Calls = compareCalls(before.Calls, after.Calls)
	}
	return d
}

// Empty reports whether nothing differs.
func (d *Difference) Empty() bool {
	return len(d.Tools)+len(d.Prompts)+len(d.Resources)+len(d.Calls) == 0
}

// compareItems compares definitions by the member that names them.
func compareItems(before, after []json.RawMessage, member string) []*ItemDifference {
	found := []*ItemDifference{}
	old, current := byName(before, member), byName(after, member)
	for name, raw := range old {
		now, there := current[name]
		switch {
		case !there:
			found = append(found, &ItemDifference{Name: name, Change: Removed, Before: raw})
		case jsontree.Canonical(raw) != jsontree.Canonical(now):
			found = append(found, &ItemDifference{Name: name, Change: Changed, Before: raw, After: now})
		}
	}
	for name, raw := range current {
		if _, there := old[name]; !there {
			found = append(found, &ItemDifference{Name: name, Change: Added, After: raw})
		}
	}
	slices.SortFunc(found, func(a, b *ItemDifference) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

func byName(all []json.RawMessage, member string) map[string]json.RawMessage {
	named := map[string]json.RawMessage{}
	for _, raw := range all {
		named[wire.Unquote(wire.Get(raw, member))] = raw
	}
	return named
}

// compareCalls compares the calls with the same arguments in their order.
func compareCalls(before, after []*Call) []*CallDifference {
	found := []*CallDifference{}
	later := map[string][]*Call{}
	for _, c := range after {
		k := key(c.Method, c.Name, c.Args)
		later[k] = append(later[k], c)
	}
	counts := map[string]int{}
	for _, c := range before {
		k := key(c.Method, c.Name, c.Args)
		counts[k]++
		d := &CallDifference{Method: c.Method, Name: c.Name, Args: c.Args, Number: counts[k], Change: Removed, Before: c.answerJSON()}
		if rest := later[k]; len(rest) > 0 {
			d.Change, d.After = Changed, rest[0].answerJSON()
			later[k] = rest[1:]
		}
		if d.Change == Removed || jsontree.Canonical(d.Before) != jsontree.Canonical(d.After) {
			found = append(found, d)
		}
	}
	for _, c := range after {
		k := key(c.Method, c.Name, c.Args)
		if rest := later[k]; len(rest) > 0 && rest[0] == c {
			later[k] = rest[1:]
			counts[k]++
			found = append(found, &CallDifference{Method: c.Method, Name: c.Name, Args: c.Args, Number: counts[k], Change: Added, After: c.answerJSON()})
		}
	}
	return found
}

// answerJSON returns the answer of a call as JSON.
func (c *Call) answerJSON() json.RawMessage {
	var v any
	switch raw := c.Raw(); {
	case c.Error != nil:
		v = map[string]any{"error": c.Error}
	case c.Omitted > 0:
		v = map[string]any{"omitted": c.Omitted}
	case wire.Valid(raw):
		return oneLine(raw)
	default:
		v = string(raw)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return wire.Quote(err.Error())
	}
	return raw
}
