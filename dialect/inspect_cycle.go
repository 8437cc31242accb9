package dialect

import (
	"github.com/toolpost/toolpost/internal/jsontree"
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
		all := len(d.nodes)
		g := grouping{extent: e, order: make([]int, all), low: make([]int, all), group: make([]int, all)}
		for _, n := range d.nodes {
			if g.order[n.index] == 0 {
				g.visit(n)
			}
		}
		d.loops[e] = g.group
	}
	return d.loops[e][n.index] == d.loops[e][n.target.index]
}

// A grouping finds the nodes that lead to each other, in one walk (Tarjan).
// What it knows of nodes is found by their index.
type grouping struct {
	extent     extent
	order, low []int // order is 0 before the visit
	group      []int // 0 while a node is on the stack
	stack      []*node
	visited    int
	groups     int
}

func (g *grouping) visit(n *node) {
	g.visited++
	g.order[n.index], g.low[n.index] = g.visited, g.visited
	g.stack = append(g.stack, n)
	for _, kid := range n.kids {
		if g.extent.takes(kid) && !kid.defined() {
			g.edge(n, kid)
		}
	}
	if n.target != nil {
		g.edge(n, n.target)
	}
	if g.low[n.index] < g.order[n.index] {
		return
	}
	g.groups++
	for {
		last := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		g.group[last.index] = g.groups
		if last == n {
			return
		}
	}
}

func (g *grouping) edge(from, to *node) {
	low := &g.low[from.index]
	switch {
	case g.order[to.index] == 0:
		g.visit(to)
		*low = min(*low, g.low[to.index])
	case g.group[to.index] == 0:
		*low = min(*low, g.order[to.index])
	}
}

// depth returns the levels of objects and arrays in a value of n, references
// followed, each cycle once. What is known of nodes already is 1 more.
func (d *document) depth(n *node, known []int) int {
	if levels := known[n.index]; levels > 0 {
		return levels - 1
	}
	known[n.index] = 1
	deepest := 0
	for _, kid := range n.kids {
		if !kid.defined() {
			deepest = max(deepest, d.depth(kid, known))
		}
	}
	if n.target != nil {
		deepest = max(deepest, d.depth(n.target, known))
	}
	if n.kinds&(jsontree.KindObject|jsontree.KindArray) != 0 {
		deepest++
	}
	known[n.index] = deepest + 1
	return deepest
}

// defined reports whether n applies only where a reference refers to it.
func (n *node) defined() bool { return n.keyword == "$defs" || n.keyword == "definitions" }
