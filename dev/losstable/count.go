package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// kinds are all kinds of losses, by their rank.
var kinds = []dialect.LossKind{"noop", "encoded", "checked", "described", "widened", "narrowed", "dropped", "rejected"}

// A tally is what adapting some tools to one dialect costs.
type tally struct {
	same   int                      // tools that stay as they are
	worst  map[dialect.LossKind]int // tools by their worst loss
	losses map[dialect.LossKind]int
	strict int // tools for which strict mode may be switched on
}

// count adapts tools one by one, so that they do not concern each other.
func count(d *dialect.Dialect, tools []*toolpost.Tool) tally {
	n := tally{worst: map[dialect.LossKind]int{}, losses: map[dialect.LossKind]int{}}
	for _, t := range tools {
		a := d.Adapt([]*toolpost.Tool{t}, nil)
		if len(a.Tools) == 0 {
			n.worst["rejected"]++
			n.losses["rejected"]++
			continue
		}
		n.add(a.Tools[0])
	}
	return n
}

func (n *tally) add(t *dialect.Tool) {
	if t.Strict {
		n.strict++
	}
	worst := -1
	for _, l := range t.Losses {
		n.losses[l.Kind]++
		worst = max(worst, l.Kind.Rank())
	}
	switch {
	case worst >= 0:
		n.worst[kinds[worst]]++
	case t.Changed():
		n.worst["noop"]++ // in another notation
	default:
		n.same++
	}
}

// countAll counts for every dialect, as many at a time as there is room.
func countAll(dialects []*dialect.Dialect, tools []*toolpost.Tool) []tally {
	all := make([]tally, len(dialects))
	var wait sync.WaitGroup
	for i, d := range dialects {
		wait.Go(func() { all[i] = count(d, tools) })
	}
	wait.Wait()
	return all
}

// real returns the tools of real servers.
func real() ([]*toolpost.Tool, error) { return read(accept.Tools()) }

// odd returns tools that are known to break clients, and the schemas of
// generators and public reports as tools.
func odd() ([]*toolpost.Tool, error) {
	tools, err := read(accept.Torture())
	for i, r := range accept.Schemas() {
		s, failure := schema.Parse(r.Schema)
		if failure != nil {
			return nil, fmt.Errorf("schema %s: %w", r.Name, failure)
		}
		tools = append(tools, &toolpost.Tool{Definition: toolpost.Definition{
			Name: "schema_" + strconv.Itoa(i), Description: "Takes a schema.", Input: s,
		}})
	}
	return tools, err
}

// read makes tools of samples. A tool without input schema takes anything.
func read(samples []accept.Sample) ([]*toolpost.Tool, error) {
	var tools []*toolpost.Tool
	for _, s := range samples {
		var d struct {
			Name, Description         string
			InputSchema, OutputSchema *schema.Schema
		}
		if err := json.Unmarshal(s.Raw, &d); err != nil {
			return nil, fmt.Errorf("tool %s: %w", s.Name(), err)
		}
		if d.InputSchema == nil {
			d.InputSchema = schema.MustParse("{}")
		}
		tools = append(tools, &toolpost.Tool{Definition: toolpost.Definition{
			Name: d.Name, Description: d.Description, Input: d.InputSchema, Output: d.OutputSchema, Raw: s.Raw,
		}})
	}
	return tools, nil
}
