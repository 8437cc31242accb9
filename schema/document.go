package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// Limits on schemas. They are far above what tools need, and keep a hostile
// schema from costing more than a fraction of a second.
const (
	maxBytes       = 1 << 20
	maxSchemaDepth = 64
	maxNodes       = 10_000
	maxPaths       = 100_000
	maxPointers    = 16 << 20 // bytes of the pointers to all subschemas
	maxFindings    = 50
)

// A document is a schema that is safe to compile: repaired, with its
// references resolved, without cycles that never reach a deeper value.
type document struct {
	root     *jsontree.Value
	draft    int
	refs     map[*jsontree.Value]*jsontree.Value   // from the schema that holds a $ref to its target
	dynamic  map[*jsontree.Value][]*jsontree.Value // from a schema to all that its $dynamicRef or $recursiveRef may mean
	partial  map[*jsontree.Value]bool              // schemas that accept more than they say, because of what is not checked
	patterns patterns
	findings []Finding
	kept     *kept // nil unless it is read for its form
}

// load reads and checks a schema, to be validated against. The document has no
// root if that cannot be done at all; the findings say why.
func load(raw []byte) *document { return loadInto(&document{}, raw) }

func loadInto(d *document, raw []byte) *document {
	d.refs, d.dynamic, d.patterns = map[*jsontree.Value]*jsontree.Value{}, map[*jsontree.Value][]*jsontree.Value{}, patterns{}
	d.partial = map[*jsontree.Value]bool{}
	refuse := func(why string) *document {
		d.root = nil
		d.refuse(why)
		return d
	}
	if len(raw) > maxBytes {
		return refuse(fmt.Sprintf("the schema is larger than %d bytes", maxBytes))
	}
	var broken *jsontree.SyntaxError
	if d.root, broken = jsontree.Parse(raw, maxDepth); broken != nil {
		return refuse(syntaxProblem(broken, raw).line())
	}
	if !shape.IsSchema(d.root) {
		return refuse("the schema is neither an object nor a boolean")
	}
	d.dialect()
	if why := d.prepare(); why != "" {
		return refuse(why)
	}
	return d
}

// refuse records, before all other findings, that nothing is validated.
func (d *document) refuse(why string) {
	d.findings = slices.Insert(d.findings, 0, Finding{"", "nothing is validated: " + why})
}

func (d *document) report(pointer, message string) {
	switch len(d.findings) {
	case maxFindings:
		d.findings = append(d.findings, Finding{"", "more is not validated"})
	default:
		if len(d.findings) < maxFindings {
			d.findings = append(d.findings, Finding{pointer, message})
		}
	}
}

// dialect takes the draft from $schema. Draft 4 is translated to draft 7.
func (d *document) dialect() {
	d.draft = 2020
	k := d.root.Get("$schema")
	if k == nil {
		return
	}
	_, name, _ := strings.Cut(strings.TrimRight(k.Text, "#"), "://json-schema.org/")
	switch name {
	case "draft-03/schema", "draft-04/schema":
		d.draft = 4
	case "draft-06/schema":
		d.draft = 6
	case "draft-07/schema":
		d.draft = 7
	case "draft/2019-09/schema":
		d.draft = 2019
	case "draft/2020-12/schema", "schema":
	default:
		d.report("/$schema", "the dialect "+shorten(k)+" is unknown; it is read as draft 2020-12")
	}
	d.kept.change("", "$schema", false, "it declares how to read the schema")
	d.root.Drop("$schema")
}

// prepare repairs the schemas, those that only a reference reaches included,
// and resolves the references. It returns the limit exceeded, "" if none.
func (d *document) prepare() string {
	r := &repairer{draft: d.draft, doc: d, seen: map[*jsontree.Value]bool{}}
	type place struct {
		v       *jsontree.Value
		pointer string
	}
	var names *index
	queue := []place{{d.root, ""}}
	for len(queue) > 0 && r.over == "" {
		v := queue[0].v
		r.schema(v, queue[0].pointer, 0)
		queue = queue[1:]
		if names == nil {
			names = newIndex(d)
		}
		names.add(v, names.base[d.root])
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
	d.resolveDynamic(names)
	over := d.preflight()
	if over == "" && d.kept == nil {
		d.spread()
	}
	return over
}

// spread marks as partial all schemas that hold or refer to a partial one.
func (d *document) spread() {
	if len(d.partial) == 0 {
		return
	}
	seen, holders := map[*jsontree.Value]bool{d.root: true}, map[*jsontree.Value][]*jsontree.Value{}
	for todo := []*jsontree.Value{d.root}; len(todo) > 0; {
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
	todo := slices.Collect(maps.Keys(d.partial))
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, holder := range holders[v] {
			if !d.partial[holder] {
				d.partial[holder] = true
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
func (d *document) next(v *jsontree.Value) []*jsontree.Value {
	all := d.targets(v)
	if d.refs[v] != nil && d.draft <= 7 { // a $ref replaces all else
		return all
	}
	for _, k := range v.Kids {
		if !shape.InPlace(k.Name) {
			continue
		}
		for _, sub := range subschemas(k) {
			all = append(all, sub)
		}
	}
	return slices.Clip(all)
}
