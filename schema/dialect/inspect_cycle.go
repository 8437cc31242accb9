package dialect

import (
	"github.com/toolpost/toolpost/internal/shape"
)

// An extent says which schemas a cycle of references goes through.
type extent int

const (
	anywhere   extent = iota
	compulsory        // not through what may be left out
	standing          // always about the same value
)

func (e extent) takes(kid *node) bool {
	switch e {
	case compulsory:
		switch kid.keyword {
		case "properties":
			return kid.required
		case "additionalProperties", "patternProperties":
			return false
		}
	case standing:
		return shape.InPlace(kid.keyword)
	}
	return true
}

// loop reports whether the reference in n refers back to n.
func (d *document) loop(n *node, e extent) bool {
	if n.target == nil {
		return false
	}
	if d.loops[e] == nil {
		d.loops[e] = shape.Components(d.nodes, e.edges)
	}
	return d.loops[e][n] == d.loops[e][n.target]
}

// edges returns the nodes that n holds or refers to.
func (e extent) edges(n *node) []*node {
	var all []*node
	for _, kid := range n.kids {
		if e.takes(kid) && !kid.isDefinition() {
			all = append(all, kid)
		}
	}
	if n.target != nil {
		all = append(all, n.target)
	}
	return all
}

// isDefinition reports whether n applies only where a reference refers to it.
func (n *node) isDefinition() bool { return n.keyword == "$defs" || n.keyword == "definitions" }
