package shape

import (
	"net/url"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
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

// MaxURI bounds ids with their bases, in bytes: each schema keeps its own. Longer
// ones are ignored.
const MaxURI = 500

// NewIndex returns the names in a document.
func NewIndex(root *jsontree.Value) *Index {
	draft, _ := Draft(root)
	return NewIndexOf(root, draft)
}

// NewIndexOf is [NewIndex] for a document of a known draft.
func NewIndexOf(root *jsontree.Value, draft int) *Index {
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
	if id == nil || len(id.Text) > MaxURI || x.draft < 2019 && v.Get("$ref") != nil {
		return base
	}
	u, err := base.Parse(id.Text)
	if err != nil || len(u.Path) > MaxURI {
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

// Schemas returns the schemas that the index has seen.
func (x *Index) Schemas() []*jsontree.Value { return x.order }

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
	if target := resource.At(u.Fragment); target != nil && IsSchema(target) {
		return target
	}
	return nil
}
