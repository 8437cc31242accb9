package subschema

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// members drops what is not a schema from the tables of schemas, and what is not a name
// from the lists of names: the others still count.
func (r *repairer) members(v *jsontree.Value, pointer string) {
	for _, k := range v.Kids {
		switch s := shape.Of(k.Name); {
		case s == shape.Table && k.Kind == jsontree.KindObject:
			r.schemas(v, k, pointer)
		case s == shape.Names && k.Kind == jsontree.KindArray:
			r.names(k, pointer)
		case (s == shape.NameLists || s == shape.Dependencies) && k.Kind == jsontree.KindObject:
			r.dependencies(v, k, s, pointer)
		case (s == shape.Schemas || s == shape.Items) && k.Kind == jsontree.KindArray:
			r.list(v, k, pointer)
		}
	}
}

// list drops what is not a schema from a list of schemas. A place in a tuple stays,
// with any value. If one of several alternatives is not a schema, the values that
// all together accept are not known, so values are not checked against the others.
func (r *repairer) list(v, list *jsontree.Value, pointer string) {
	place := shape.Of(list.Name) == shape.Items || list.Name == "prefixItems"
	if !place && (!slices.ContainsFunc(list.Kids, shape.IsSchema) || r.doc.Log == nil && list.Name != "allOf") {
		return
	}
	kept := list.Kids[:0]
	for i, kid := range list.Kids {
		if shape.IsSchema(kid) {
			kept = append(kept, kid)
			continue
		}
		r.doc.Partial[v] = true
		r.report(pointer, list.Name, kid.Kind != jsontree.KindNull, "%s at %d is not a schema; it is left out", jsontree.Brief(kid), i)
		if place {
			kept = append(kept, jsontree.Read([]byte("{}")))
		}
	}
	list.Kids = kept
}

// dependencies drops what is neither a list of names nor, for s, a schema.
func (r *repairer) dependencies(v, table *jsontree.Value, s shape.Shape, pointer string) {
	table.Kids = slices.DeleteFunc(table.Kids, func(kid *jsontree.Value) bool {
		if shape.Fits(shape.Names, kid) || s == shape.Dependencies && shape.IsSchema(kid) {
			return false
		}
		r.doc.Partial[v] = true
		r.report(pointer+"/"+jsontree.EscapePointer(table.Name), kid.Name, true, "%s cannot be %s; it is left out", kid.Name, jsontree.Brief(kid))
		return true
	})
}

// schemas drops members of a table. A property that is required stays, with any value.
func (r *repairer) schemas(v, table *jsontree.Value, pointer string) {
	kept := table.Kids[:0]
	for _, kid := range table.Kids {
		if shape.IsSchema(kid) {
			kept = append(kept, kid)
			continue
		}
		r.doc.Partial[v] = true
		r.report(pointer+"/"+jsontree.EscapePointer(table.Name), kid.Name, kid.Kind != jsontree.KindNull,
			"%s is %s, which is not a schema; it is left out", kid.Name, jsontree.Brief(kid))
		if table.Name == "properties" && requires(v, kid.Name) {
			anything := jsontree.Read([]byte("{}"))
			anything.Name = kid.Name
			kept = append(kept, anything)
		}
	}
	table.Kids = kept
}

func requires(v *jsontree.Value, name string) bool {
	list := v.Get("required")
	return list != nil && slices.ContainsFunc(list.Kids, func(kid *jsontree.Value) bool { return kid.Kind == jsontree.KindString && kid.Text == name })
}

// names drops members of a list of names.
func (r *repairer) names(list *jsontree.Value, pointer string) {
	seen := map[string]bool{}
	list.Kids = slices.DeleteFunc(list.Kids, func(kid *jsontree.Value) bool {
		if kid.Kind == jsontree.KindString && !seen[kid.Text] {
			seen[kid.Text] = true
			return false
		}
		r.report(pointer, list.Name, false, "%s is not another name; it is left out", jsontree.Brief(kid))
		return true
	})
}
