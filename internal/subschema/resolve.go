package subschema

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// An Index has the names that references in a document may use: ids, anchors, and
// the base that a relative reference starts from.
type Index struct {
	draft int
	base  map[*jsontree.Value]*url.URL
	order []*jsontree.Value          // those that have a base
	named map[string]*jsontree.Value // by URI, an anchor as its fragment
}

// schemaURL is the base of references in a schema without an id. Nothing is loaded
// from there, or from anywhere.
const schemaURL = "mem:///schema.json"

// maxURI bounds ids with their bases, in bytes: each schema keeps its own. Longer
// ones are ignored.
const maxURI = 500

// NewIndex returns the names in a document.
func NewIndex(root *jsontree.Value) *Index {
	draft, _ := draftOf(root)
	return newIndex(root, draft)
}

func newIndex(root *jsontree.Value, draft int) *Index {
	x := &Index{draft: draft, base: map[*jsontree.Value]*url.URL{}, named: map[string]*jsontree.Value{schemaURL: root}}
	x.base[nil], _ = url.Parse(schemaURL)
	x.add(root, x.base[nil])
	return x
}

// Add enters a schema that no keyword holds, and all schemas below it.
func (x *Index) Add(v *jsontree.Value) { x.add(v, x.base[nil]) }

func (x *Index) add(v *jsontree.Value, base *url.URL) {
	if x.base[v] != nil {
		return
	}
	base = x.identify(v, base)
	x.base[v], x.order = base, append(x.order, v)
	for _, k := range v.Kids {
		if x.draft >= 2019 && (k.Name == "$anchor" || k.Name == "$dynamicAnchor") {
			x.name(base, k.Text, v)
		}
		for _, sub := range Held(k) {
			x.add(sub, base)
		}
	}
}

// identify enters the id of a schema, and returns the base of its references.
func (x *Index) identify(v *jsontree.Value, base *url.URL) *url.URL {
	id := v.Get("$id")
	if id == nil || len(id.Text) > maxURI || x.draft < 2019 && v.Get("$ref") != nil {
		return base
	}
	u, err := base.Parse(id.Text)
	if err != nil || len(u.Path) > maxURI {
		return base
	}
	if x.name(u, u.Fragment, v); u.Fragment != "" {
		return base
	}
	return u
}

func (x *Index) name(base *url.URL, fragment string, v *jsontree.Value) {
	if key := withFragment(base, fragment); x.named[key] == nil {
		x.named[key] = v
	}
}

func withFragment(u *url.URL, fragment string) string {
	c := *u
	c.Fragment, c.RawFragment = fragment, ""
	return c.String()
}

// Find returns the schema that a reference in v leads to, nil if there is none.
func (x *Index) Find(v *jsontree.Value, ref string) *jsontree.Value {
	base := x.base[v]
	if base == nil { // v is where no keyword looks for schemas
		base = x.base[nil]
	}
	u, err := base.Parse(ref)
	if err != nil {
		return nil
	}
	if target := x.named[withFragment(u, u.Fragment)]; target != nil {
		return target
	}
	resource := x.named[withFragment(u, "")]
	if resource == nil || !strings.HasPrefix(u.Fragment, "/") {
		return nil
	}
	if target := resource.At(u.Fragment); target != nil && shape.IsSchema(target) {
		return target
	}
	return nil
}

// resolve finds the target of a reference. A reference to nowhere is removed and
// reported.
func (d *Graph) resolve(r reference, x *Index) *jsontree.Value {
	ref := r.schema.Get("$ref").Text
	if target := x.Find(r.schema, ref); target != nil {
		d.refs[r.schema] = target
		return target
	}
	d.dropRef(r.schema)
	why := "is not in the schema"
	if !strings.HasPrefix(ref, "#") {
		why = "is outside the schema, and is not fetched"
	}
	why = fmt.Sprintf("%.100q %s; what it refers to is not checked", ref, why)
	d.report(r.pointer+"/$ref", why)
	d.Log.Change(r.pointer, "$ref", true, why)
	return nil
}

// dropDynamic removes the references whose target depends on the place where a
// schema is used.
func (d *Graph) dropDynamic(x *Index) {
	for _, v := range x.order {
		for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
			if k := v.Get(keyword); k != nil {
				d.report("", fmt.Sprintf("what the %s %.100q refers to may depend on where the schema is used; it is not checked", keyword, k.Text))
				v.Drop(keyword)
				d.Partial[v] = true
			}
		}
	}
}

// dropRef removes the reference that a schema holds.
func (d *Graph) dropRef(v *jsontree.Value) {
	d.Partial[v] = true
	delete(d.refs, v)
	v.Drop("$ref")
}

// Target returns the schema that the $ref of v refers to, nil if there is none.
func (d *Graph) Target(v *jsontree.Value) *jsontree.Value { return d.refs[v] }

// HasReferences reports whether some schema refers to another.
func (d *Graph) HasReferences() bool { return len(d.refs) > 0 }
