package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// withoutNulls returns v without the null members that err complains about and
// that are optional properties of their schema, nil if there are none.
func (f *fallback) withoutNulls(v *value, err error) *value {
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	blamed := map[string]bool{}
	f.blame(invalid, blamed)
	less := prune(v, "", blamed)
	if less == v {
		return nil
	}
	return less
}

func (f *fallback) blame(e *jsonschema.ValidationError, at map[string]bool) {
	if n := len(e.InstanceLocation); n > 0 && f.optional(e.SchemaURL, e.InstanceLocation[n-1]) {
		at[joinPointer(e.InstanceLocation)] = true
	}
	for _, cause := range e.Causes {
		f.blame(cause, at)
	}
}

// optional reports whether the schema at a URL is that of the property, and
// that the object may lack it.
func (f *fallback) optional(at, property string) bool {
	base, fragment, _ := strings.Cut(at, "#")
	pointer, ok := localRef("#" + fragment)
	for _, branch := range []string{"/then", "/else"} {
		pointer = strings.TrimSuffix(pointer, branch)
	}
	owner, declared := strings.CutSuffix(pointer, "/properties/"+escapePointer(property))
	if !ok || !declared {
		return false
	}
	object := schemaAt(f.doc, base+"#"+(&url.URL{Path: owner}).EscapedPath())
	if object == nil || object.get("required") == nil {
		return true
	}
	return !slices.ContainsFunc(object.get("required").kids, func(name *value) bool { return name.text == property })
}

// prune returns v without the null members at the given pointers, v itself if
// there are none.
func prune(v *value, pointer string, blamed map[string]bool) *value {
	less := v
	kids := make([]*value, 0, len(v.kids))
	for i, kid := range v.kids {
		at := pointer + "/" + escapePointer(kid.name)
		if v.kind == KindArray {
			at = pointer + "/" + strconv.Itoa(i)
		}
		if v.kind == KindObject && kid.kind == KindNull && blamed[at] {
			continue
		}
		kids = append(kids, prune(kid, at, blamed))
	}
	if !slices.Equal(kids, v.kids) {
		c := *v
		c.kids = kids
		less = &c
	}
	return less
}
