// Package subschema reads a JSON Schema document as a graph: which schemas it
// holds, what references lead to, and which cycles there are. By it schemas are
// compiled, brought into normal form and linted.
package subschema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/ecmaregexp"
)

const (
	maxPointers = 16 << 20 // bytes of the pointers to all subschemas
	maxFindings = 50
)

// A Graph is a schema document that is safe to compile: repaired, with its
// references resolved, without cycles that never reach a deeper value.
type Graph struct {
	Root     *jsontree.Value // nil if nothing can be checked; the first of Findings is the reason
	Draft    int
	Partial  map[*jsontree.Value]bool // schemas that accept more than they say, because of what is not checked
	Patterns ecmaregexp.Patterns
	Findings []Finding
	Endless  bool // a reference led back to its own schema without descending into the value, and was removed
	Log      *Log // nil if the graph is for validation

	refs map[*jsontree.Value]*jsontree.Value // from the schema that holds a $ref to its target
}

// A Finding is a remark about a schema or a type.
type Finding struct {
	Pointer string // JSON pointer into the schema (RFC 6901)
	Message string
}

// Read returns the graph of a schema for validation: annotations and patterns
// that no engine supports are left out.
func Read(raw []byte) *Graph { return read(raw, nil) }

// ReadAll returns the graph of a schema with its annotations and all patterns.
// It keeps a Log.
func ReadAll(raw []byte) *Graph {
	return read(raw, &Log{names: map[*jsontree.Value]string{}, Cut: map[*jsontree.Value]string{}})
}

func read(raw []byte, log *Log) *Graph {
	d := &Graph{
		Log: log, Patterns: ecmaregexp.Patterns{}, Partial: map[*jsontree.Value]bool{},
		refs: map[*jsontree.Value]*jsontree.Value{},
	}
	if why := d.read(raw); why != "" {
		d.Root = nil
		d.Findings = slices.Insert(d.Findings, 0, Finding{"", "nothing is validated: " + why})
	}
	return d
}

// read returns why the schema cannot be used at all, "" if it can.
func (d *Graph) read(raw []byte) string {
	if len(raw) > shape.MaxBytes {
		return fmt.Sprintf("the schema is larger than %d bytes", shape.MaxBytes)
	}
	var broken *jsontree.SyntaxError
	if d.Root, broken = jsontree.Parse(raw, shape.MaxLevels); broken != nil {
		return broken.Error()
	}
	if !shape.IsSchema(d.Root) {
		return "the schema is neither an object nor a boolean"
	}
	d.dialect()
	return d.prepare()
}

func (d *Graph) report(pointer, message string) {
	switch len(d.Findings) {
	case maxFindings:
		d.Findings = append(d.Findings, Finding{"", "more is not validated"})
	default:
		if len(d.Findings) < maxFindings {
			d.Findings = append(d.Findings, Finding{pointer, message})
		}
	}
}

// dialect takes the draft from $schema. Draft 4 is translated to draft 7.
func (d *Graph) dialect() {
	var known bool
	d.Draft, known = shape.Draft(d.Root)
	if k := d.Root.Get("$schema"); k != nil {
		if !known {
			d.report("/$schema", "the dialect "+jsontree.Brief(k)+" is unknown; it is read as draft 2020-12")
		}
		d.Log.Change("", "$schema", false, "it declares how to read the schema")
		d.Root.Drop("$schema")
	}
}

// prepare repairs the schemas, those that only a reference reaches included,
// and resolves the references. It returns the limit exceeded, "" if none.
func (d *Graph) prepare() string {
	r := &repairer{draft: d.Draft, doc: d, seen: map[*jsontree.Value]bool{}}
	type place struct {
		v       *jsontree.Value
		pointer string
	}
	var names *shape.Index
	queue := []place{{d.Root, ""}}
	for len(queue) > 0 && r.over == "" {
		v := queue[0].v
		r.schema(v, queue[0].pointer, 0)
		queue = queue[1:]
		if r.over != "" {
			break
		}
		if names == nil {
			names = shape.NewIndexOf(d.Root, d.Draft)
		}
		names.Add(v)
		for _, ref := range r.refs {
			if target := d.resolve(ref, names); target != nil && !r.seen[target] {
				pointer, _ := jsontree.LocalRef(ref.schema.Get("$ref").Text)
				queue = append(queue, place{target, pointer})
			}
		}
		r.refs = nil
	}
	if r.over != "" {
		return r.over
	}
	if d.Log == nil {
		d.dropDynamic(names)
	}
	over := d.preflight()
	if over == "" && d.Log == nil {
		d.spread()
	}
	return over
}

// spread marks as partial all schemas that hold or refer to a partial one.
func (d *Graph) spread() {
	if len(d.Partial) == 0 {
		return
	}
	seen, holders := map[*jsontree.Value]bool{d.Root: true}, map[*jsontree.Value][]*jsontree.Value{}
	for todo := []*jsontree.Value{d.Root}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range d.below(v, nil) {
			holders[next] = append(holders[next], v)
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	todo := slices.Collect(maps.Keys(d.Partial))
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, holder := range holders[v] {
			if !d.Partial[holder] {
				d.Partial[holder] = true
				todo = append(todo, holder)
			}
		}
	}
}

// A reference is a schema with a $ref, and its own place.
type reference struct {
	schema  *jsontree.Value
	pointer string
}

// next returns the schemas that v applies to the same value.
func (d *Graph) next(v *jsontree.Value) []*jsontree.Value {
	var all []*jsontree.Value
	if target := d.refs[v]; target != nil {
		if all = append(all, target); d.Draft <= 7 { // a $ref replaces all else
			return all
		}
	}
	for _, k := range v.Kids {
		if !shape.InPlace(k.Name) {
			continue
		}
		for _, sub := range shape.Held(k) {
			all = append(all, sub)
		}
	}
	return all
}
