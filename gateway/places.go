package gateway

import (
	"slices"

	"github.com/toolpost/toolpost"
)

// places remembers the order in which clients of a view saw its tools first.
// Known tools keep their places and new ones come at the end, so that a client
// that defers tools, or caches a prompt that lists them, loses as little as
// possible. The zero value is ready.
type places struct{ of map[string]int }

// maxPlaces is how many names of tools are remembered: servers make them up.
const maxPlaces = 20_000

// layer returns ts with its tools in their places.
func (p *places) layer(ts toolpost.Source) toolpost.Source {
	return toolpost.Layer(ts, func(tools []*toolpost.Tool) ([]*toolpost.Tool, error) { return p.sort(tools), nil }, nil)
}

func (p *places) sort(tools []*toolpost.Tool) []*toolpost.Tool {
	if p.of == nil || len(p.of) > maxPlaces {
		p.of = map[string]int{}
	}
	for _, t := range tools {
		if _, known := p.of[t.Name]; !known {
			p.of[t.Name] = len(p.of)
		}
	}
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b *toolpost.Tool) int { return p.of[a.Name] - p.of[b.Name] })
	return sorted
}
