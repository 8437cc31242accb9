package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// withoutNulls returns v without the null members that err complains about,
// nil if there are none.
func (f *fallback) withoutNulls(v *value, err error) *value {
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	blamed := map[string]bool{}
	blame(invalid, blamed)
	less := prune(v, "", blamed)
	if less == v {
		return nil
	}
	return less
}

func blame(e *jsonschema.ValidationError, at map[string]bool) {
	at[joinPointer(e.InstanceLocation)] = true
	for _, cause := range e.Causes {
		blame(cause, at)
	}
}

// prune returns v without the null members at the given pointers, v itself if
// there are none.
func prune(v *value, pointer string, blamed map[string]bool) *value {
	less := v
	kids := make([]*value, 0, len(v.kids))
	for i, kid := range v.kids {
		at := pointer + "/" + escapePointer(kid.name)
		if v.kind == kindArray {
			at = pointer + "/" + strconv.Itoa(i)
		}
		if v.kind == kindObject && kid.kind == kindNull && blamed[at] {
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
