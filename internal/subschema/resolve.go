package subschema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// An Index has the names that references in a document may use: ids, anchors, and
// the base that a relative reference starts from.
type Index struct {
	draft   int
	base    map[*jsontree.Value]*url.URL
	order   []*jsontree.Value            // those that have a base
	named   map[string]*jsontree.Value   // by URI, an anchor as its fragment
	dynamic map[string][]*jsontree.Value // by dynamic anchor; recursive ones are "#"
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
	x := &Index{draft: draft, base: map[*jsontree.Value]*url.URL{}, named: map[string]*jsontree.Value{schemaURL: root}, dynamic: map[string][]*jsontree.Value{}}
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
	if id := v.Get("$id"); id != nil && len(id.Text) <= maxURI && (x.draft >= 2019 || v.Get("$ref") == nil) {
		if u, err := base.Parse(id.Text); err == nil && len(u.Path) <= maxURI {
			x.name(u, u.Fragment, v)
			if u.Fragment == "" {
				base = u
			}
		}
	}
	x.base[v], x.order = base, append(x.order, v)
	x.anchors(v, base)
	for _, k := range v.Kids {
		for _, sub := range Held(k) {
			x.add(sub, base)
		}
	}
}

func (x *Index) anchors(v *jsontree.Value, base *url.URL) {
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if a := v.Get(keyword); a != nil && x.draft >= 2019 {
			x.name(base, a.Text, v)
			if keyword == "$dynamicAnchor" {
				x.dynamic[a.Text] = append(x.dynamic[a.Text], v)
			}
		}
	}
	if a := v.Get("$recursiveAnchor"); a != nil && a.Is("true") {
		x.dynamic["#"] = append(x.dynamic["#"], v)
	}
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

// resolveDynamic notes all schemas that $dynamicRef and $recursiveRef may lead to.
func (d *Graph) resolveDynamic(x *Index) {
	for _, v := range x.order {
		var all []*jsontree.Value
		if k := v.Get("$dynamicRef"); k != nil && d.Draft >= 2020 {
			_, anchor, _ := strings.Cut(k.Text, "#")
			all = x.dynamic[anchor]
			if target := x.Find(v, k.Text); target != nil {
				all = append(all[:len(all):len(all)], target)
			}
		}
		if k := v.Get("$recursiveRef"); k != nil && d.Draft == 2019 {
			all = append(all[:len(all):len(all)], x.dynamic["#"]...)
			if target := x.Find(v, k.Text); target != nil {
				all = append(all, target)
			}
		}
		if len(all) > 0 {
			d.dynamic[v] = all
		}
		if d.Log == nil && d.Target(v) == nil && d.refers(v) {
			d.report("", fmt.Sprintf("what %.100q refers to is not one schema of this document; it is not checked", refText(v)))
			d.dropRef(v)
		}
	}
}

// refers reports whether v has a reference that its draft knows.
func (d *Graph) refers(v *jsontree.Value) bool {
	return d.Draft >= 2020 && v.Get("$dynamicRef") != nil || d.Draft == 2019 && v.Get("$recursiveRef") != nil
}

// Target returns the one schema that v refers to, nil if there is none or it
// depends on the place where v is used.
func (d *Graph) Target(v *jsontree.Value) *jsontree.Value {
	all := d.Targets(v)
	if len(all) == 0 || slices.ContainsFunc(all, func(t *jsontree.Value) bool { return t != all[0] }) {
		return nil
	}
	return all[0]
}

// dropRef removes the references that a schema holds.
func (d *Graph) dropRef(v *jsontree.Value) {
	d.Partial[v] = true
	delete(d.refs, v)
	delete(d.dynamic, v)
	v.Drop("$ref")
	v.Drop("$dynamicRef")
	v.Drop("$recursiveRef")
}

// Targets returns the schemas that v refers to.
func (d *Graph) Targets(v *jsontree.Value) []*jsontree.Value {
	all := d.dynamic[v]
	if target := d.refs[v]; target != nil {
		all = append(all[:len(all):len(all)], target)
	}
	return all
}

// Ref returns the schema that the $ref of v refers to, nil if there is none.
func (d *Graph) Ref(v *jsontree.Value) *jsontree.Value { return d.refs[v] }

// HasReferences reports whether some schema refers to another.
func (d *Graph) HasReferences() bool { return len(d.refs)+len(d.dynamic) > 0 }
