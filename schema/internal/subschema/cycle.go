package subschema

import (
	"fmt"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// A walk looks at all paths of schemas that apply to the same value.
type walk struct {
	doc   *Graph
	state map[*jsontree.Value]int // paths from a schema; onStack while it is entered
	stack []*jsontree.Value
}

const onStack = -1

// preflight breaks cycles and counts paths. It returns the limit exceeded,
// "" if none.
func (d *Graph) preflight() string {
	w := &walk{doc: d, state: map[*jsontree.Value]int{}}
	starts := []*jsontree.Value{d.Root}
	for len(starts) > 0 {
		v := starts[len(starts)-1]
		starts = starts[:len(starts)-1]
		if _, seen := w.state[v]; seen {
			continue
		}
		if w.paths(v) > shape.MaxPaths {
			return fmt.Sprintf("its references multiply to more than %d paths", shape.MaxPaths)
		}
		starts = d.below(v, starts)
	}
	return ""
}

// below appends all schemas that v holds or refers to.
func (d *Graph) below(v *jsontree.Value, list []*jsontree.Value) []*jsontree.Value {
	for _, k := range v.Kids {
		for _, sub := range shape.Held(k) {
			list = append(list, sub)
		}
	}
	if target := d.refs[v]; target != nil {
		list = append(list, target)
	}
	return list
}

// paths counts the ways through v, at most one above the limit.
func (w *walk) paths(v *jsontree.Value) int {
	w.state[v] = onStack
	w.stack = append(w.stack, v)
	total := 0
	for _, next := range w.doc.next(v) {
		n, seen := w.state[next]
		switch {
		case seen && n == onStack:
			w.cut(next)
			continue
		case !seen:
			n = w.paths(next)
		}
		total = min(total+n, shape.MaxPaths+1)
	}
	w.stack = w.stack[:len(w.stack)-1]
	w.state[v] = max(total, 1)
	return w.state[v]
}

// cut breaks the cycle that leads back to target, at the reference closest to
// its end. Every cycle has one: without references a schema is a tree.
func (w *walk) cut(target *jsontree.Value) {
	for i := len(w.stack) - 1; i >= 0; i-- {
		v := w.stack[i]
		to := target
		if i < len(w.stack)-1 {
			to = w.stack[i+1]
		}
		if w.doc.refs[v] == to {
			ref := v.Get("$ref").Text
			w.doc.dropRef(v)
			w.doc.Endless = true
			pointer, _ := jsontree.LocalRef(ref)
			why := fmt.Sprintf("%.100q refers to itself without descending into the value; the reference is not checked", ref)
			w.doc.report(pointer, why)
			if w.doc.Log != nil {
				w.doc.Log.Cut[v] = why
			}
			return
		}
		if v == target {
			return
		}
	}
}
