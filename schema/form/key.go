package form

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// distinct drops alternatives that are the same as another one. Exactly one of
// two that are the same never fits; ok is false if the form cannot express
// that.
func distinct(list []*Form, one bool) (left []*Form, ok bool) {
	similar := map[outline]int{}
	for _, f := range list {
		similar[outlineOf(f)]++
	}
	seen := map[string]bool{}
	for _, f := range list {
		if similar[outlineOf(f)] > 1 {
			key, err := json.Marshal(f)
			if err == nil && seen[string(key)] {
				if one {
					return nil, false
				}
				continue
			}
			seen[string(key)] = true
		}
		left = append(left, f)
	}
	return left, true
}

// An outline is the same for forms that are the same, and fast to make.
type outline struct {
	kinds   jsontree.Kinds
	ref     *Def
	members int
	value   string // the first one that is listed, or the name of the first member
}

func outlineOf(f *Form) outline {
	o := outline{kinds: f.Kinds, ref: f.Ref}
	if f.Object != nil && len(f.Object.Properties) > 0 {
		o.members, o.value = len(f.Object.Properties), f.Object.Properties[0].Name
		if e := f.Object.Properties[0].Form.Enum; e != nil {
			o.value += string(e.Values[0])
		}
	}
	if f.Enum != nil {
		o.value = string(f.Enum.Values[0])
	}
	return o
}

// MarshalText identifies a definition where a form is compared.
func (d *Def) MarshalText() ([]byte, error) { return []byte(d.Name), nil }
