package form

import (
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// references are what is known of those in a document.
type references struct {
	doc    *subschema.Graph
	at     map[*jsontree.Value]string // pointers of the schemas that references lead to
	defs   map[*jsontree.Value]*Def   // those that stay shared
	order  []*jsontree.Value          // the keys of at, in source order
	kinds  subschema.Kinds
	filled map[*Def]bool // their forms are read, or being read
}

// share makes definitions of the schemas that stay shared.
func (r *references) share() {
	if !r.doc.HasReferences() {
		return
	}
	r.defs, r.at, r.filled = map[*jsontree.Value]*Def{}, map[*jsontree.Value]string{}, map[*Def]bool{}
	r.kinds = subschema.Kinds{Target: r.doc.Target, RefAlone: r.doc.Draft <= 7}
	groups := shape.Components([]*jsontree.Value{r.doc.Root}, r.edges)
	uses, size, targets := map[*jsontree.Value]int{}, map[int]int{}, map[*jsontree.Value]bool{}
	for v, group := range groups {
		size[group]++
		for _, next := range r.edges(v) {
			uses[next]++
			if next == v {
				size[group]++
			}
		}
		if t := r.doc.Target(v); t != nil {
			targets[t] = true
		}
	}
	r.locate(r.doc.Root, targets, nil)
	names := map[string]int{}
	for _, v := range r.order {
		if recursive := size[groups[v]] > 1; recursive || uses[v] > 1 {
			r.defs[v] = &Def{Name: unique(names, r.at[v]), Recursive: recursive}
		}
	}
}

// locate notes the pointers of the targets below v.
func (r *references) locate(v *jsontree.Value, targets map[*jsontree.Value]bool, path []string) {
	if targets[v] {
		r.at[v] = jsontree.Pointer(path)
		r.order = append(r.order, v)
	}
	for i, kid := range v.Kids {
		token := strconv.Itoa(i)
		if v.Kind == jsontree.KindObject {
			token = r.doc.Log.SourceName(kid)
		}
		if kid.Kind&(jsontree.KindObject|jsontree.KindArray|jsontree.KindBoolean) != 0 {
			r.locate(kid, targets, append(path, token))
		}
	}
}

// unique makes a name that is not taken yet of the end of a pointer.
func unique(taken map[string]int, pointer string) string {
	base := jsontree.UnescapePointer(pointer[strings.LastIndexByte(pointer, '/')+1:])
	switch {
	case pointer == "":
		base = "root"
	case base == "":
		base = "def"
	}
	name := base
	for taken[name] > 0 {
		taken[base]++
		name = base + strconv.Itoa(taken[base])
	}
	taken[name] = 1
	return name
}

// edges returns the schemas that v holds or refers to, definitions left out.
func (r *references) edges(v *jsontree.Value) []*jsontree.Value {
	var all []*jsontree.Value
	if t := r.doc.Target(v); t != nil {
		all = append(all, t)
		if r.doc.Draft <= 7 {
			return all
		}
	}
	for _, k := range v.Kids {
		if k.Name == "$defs" || k.Name == "definitions" {
			continue
		}
		for _, sub := range shape.Held(k) {
			all = append(all, sub)
		}
	}
	return all
}
