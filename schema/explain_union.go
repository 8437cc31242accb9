package schema

import (
	"fmt"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// union explains why no branch holds, by the branch that is closest.
func (x *explainer) union(u union, v *jsontree.Value) {
	var candidates []*node
	fits := 0
	for _, b := range u.branches {
		if b.kinds&v.Kind == 0 {
			continue
		}
		candidates = append(candidates, b)
		if ok, _ := x.test(b, v, x.nullIsAbsent); ok {
			fits++
		}
	}
	switch {
	case fits == 1 || fits > 0 && !u.one:
	case fits > 1:
		x.found.add(Problem{
			Pointer: jsontree.Pointer(x.path), Expected: fmt.Sprintf("a value that matches exactly one of %d forms: %s", len(u.branches), jsontree.Clip(u.words(1), 160)),
			Got: fmt.Sprintf("%s, which matches %d of them", jsontree.Brief(v), fits),
		})
	case v.Kind&(jsontree.KindArray|jsontree.KindObject) == 0:
		x.wrong(jsontree.Clip(u.words(2), 240), v)
	case !x.tag(candidates, v):
		if best := x.closest(candidates, v); best != nil {
			x.node(best, v)
			return
		}
		x.wrong(jsontree.Clip(u.words(2), 240), v)
	}
}

// tag explains an object whose tag names no branch: a property that has
// choices in all of them.
func (x *explainer) tag(branches []*node, v *jsontree.Value) bool {
	if v.Kind != jsontree.KindObject || len(branches) < 2 || branches[0].object == nil {
		return false
	}
	for _, p := range branches[0].object.properties {
		kid := v.Get(p.name)
		if kid == nil {
			continue
		}
		var all []*jsontree.Value
		for _, b := range branches {
			c := b.choicesOf(p.name)
			if c == nil || newChoice(c).has(kid) {
				all = nil
				break
			}
			all = append(all, c...)
		}
		if all != nil {
			x.in(p.name, &node{kinds: jsontree.KindAny, choices: []*choice{newChoice(all)}}, kid)
			return true
		}
	}
	return false
}

// choicesOf returns the values that a property may have, nil for no limit.
func (n *node) choicesOf(property string) []*jsontree.Value {
	if n.object == nil {
		return nil
	}
	i, ok := n.object.index[property]
	if !ok || n.object.properties[i].node == nil || len(n.object.properties[i].node.choices) == 0 {
		return nil
	}
	return n.object.properties[i].node.choices[0].values
}

// closest returns the branch that misses the least, nil if none stands out.
func (x *explainer) closest(branches []*node, v *jsontree.Value) *node {
	var best *node
	least, tie := 0, false
	for _, b := range branches {
		sub := explainer{nullIsAbsent: x.nullIsAbsent, work: x.work, read: x.read, timeouts: x.timeouts}
		sub.node(b, v)
		x.work, x.read, x.timeouts = sub.work, sub.read, sub.timeouts
		cost := len(sub.found.Problems) + sub.found.More + b.strange(v, &x.timeouts)
		switch {
		case best == nil || cost < least:
			best, least, tie = b, cost, false
		case cost == least:
			tie = true
		}
	}
	if tie {
		return nil
	}
	return best
}

// strange weighs what speaks against v being meant for n: required properties
// that it lacks, and above all tags of another branch.
func (n *node) strange(v *jsontree.Value, timeouts *int) int {
	if v.Kind != jsontree.KindObject || n.object == nil {
		return 0
	}
	cost := 0
	for _, p := range n.object.properties {
		kid := v.Get(p.name)
		switch {
		case kid == nil && p.required:
			cost += 10
		case kid != nil && p.node != nil && len(p.node.choices) > 0 && !p.node.accepts(kid, timeouts):
			cost += 100
		}
	}
	return cost
}
