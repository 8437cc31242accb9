package dialect

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// mapRules are about objects with members of any name.
func mapRules() []*Rule {
	return []*Rule{
		{
			Name: "map", Effect: refusesCall,
			What:  "Objects have only declared properties; other members are not allowed.",
			Why:   "The reader drops what additionalProperties allows. The model then always sends {}.",
			Fix:   "Use a list of keys and values. Adapting does this, or asks for a string that contains JSON; the tool still gets the object.",
			when:  func(d *Dialect) bool { return d.form.Input.Object.Maps != "" },
			check: check{schema: openMembers},
		},
		{
			Name: "map-open", Effect: losesSilently,
			What:  "An object without properties that accepts members of any name says so in additionalProperties.",
			Why:   "The reader takes an object without additionalProperties for a closed one. The model then always sends {}.",
			Fix:   `Write "additionalProperties": true, which means the same. Adapting does this.`,
			when:  func(d *Dialect) bool { return d.form.Input.Object.OpenMaps },
			check: check{schema: openMaps},
		},
		{
			Name: "map-any", Effect: refusesCall,
			What:  "additionalProperties is true, false or a schema with a type, not an empty schema.",
			Why:   "The model's API refuses the whole request: a schema there must have a type.",
			Fix:   `Write "additionalProperties": true, which means the same. Adapting does this.`,
			when:  func(d *Dialect) bool { return d.form.Input.Object.NoEmptyMaps },
			check: check{schema: emptyMembers},
		},
	}
}

func openMembers(v *view, n *node) {
	if !n.object() || n.listsValues() {
		return
	}
	if n.Get("patternProperties") != nil {
		v.report("patternProperties", "members are allowed by a pattern of their names")
	}
	switch more := n.Get("additionalProperties"); {
	case more != nil && !more.Is("false"):
		v.report("additionalProperties", "members with any name are allowed")
	case more == nil && n.parent != nil && len(n.Get("properties").Members())+len(n.Get("required").Items()) == 0:
		v.report("additionalProperties", "the object has no properties, so members with any name are allowed")
	}
}

func openMaps(v *view, n *node) {
	if n.object() && n.parent != nil && !n.listsValues() && !n.chooses() && n.Get("additionalProperties") == nil && n.Get("patternProperties") == nil &&
		len(n.Get("properties").Members()) == 0 {
		v.report("additionalProperties", "the object has no properties, and does not say that others are accepted")
	}
}

func emptyMembers(v *view, n *node) {
	if more := n.Get("additionalProperties"); more != nil && more.Kind == jsontree.KindObject && !slices.ContainsFunc(more.Kids, saysSomething) {
		v.report("additionalProperties", "it is a schema without a type")
	}
}
