package subschema

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// resolve finds the target of a reference. A reference to nowhere is removed and
// reported.
func (d *Graph) resolve(r reference, x *shape.Index) *jsontree.Value {
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
func (d *Graph) dropDynamic(x *shape.Index) {
	for _, v := range x.Schemas() {
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
