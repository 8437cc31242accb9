package dialect

import (
	"slices"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
)

func objectRules() []*Rule {
	return []*Rule{
		{
			Name: "closed", Effect: refusesCall, rest: true,
			What:  `Every object has "additionalProperties": false.`,
			Why:   "The reader compiles the schema to a grammar, and refuses objects that allow undeclared members.",
			Fix:   `Write "additionalProperties": false. Adapting does this.`,
			when:  func(d *Dialect) bool { return d.form.Input.Object.Closed },
			check: check{schema: closed},
		},
		{
			Name: "all-required", Effect: refusesCall,
			What:  "Every property is required; an optional one accepts null.",
			Why:   "The reader refuses schemas with optional properties.",
			Fix:   "Require the property and let it accept null. Adapting does this, and removes null properties from calls.",
			when:  func(d *Dialect) bool { return d.form.Input.Object.AllRequired },
			check: check{schema: allRequired},
		},
		{
			Name: "required-declared", Effect: refusesCall,
			What:  "Every required name is a declared property.",
			Why:   "The reader refuses a required name that is not declared in properties.",
			Fix:   "Declare the property. Adapting adds one that accepts any value.",
			when:  func(d *Dialect) bool { return d.form.Input.Object.Declared },
			check: check{schema: requiredDeclared},
		},
		{
			Name: "properties-filled", Effect: refusesCall, rest: true,
			What:  "Every object inside a schema has at least one property.",
			Why:   "The reader refuses an object without properties.",
			Fix:   "Declare the properties. Adapting asks for a string that contains JSON.",
			when:  func(d *Dialect) bool { return d.form.Input.Object.Filled },
			check: check{schema: propertiesFilled},
		},
		{
			Name: "property-name", Effect: refusesCall,
			What: "Parameter names contain only characters that the reader accepts, and are not too long.",
			Why:  "Because of one key such as filter[id] or $top, the model's API refuses the whole request.",
			Fix:  "Rename the parameter. Adapting does this; the tool still gets the original name.",
			when: func(d *Dialect) bool {
				o := d.form.Input.Object
				return o.Name != "" || o.NameMax > 0 || len(o.Forbidden)+len(o.Reserved) > 0
			},
			check: check{schema: propertyName},
		},
	}
}

// listsValues reports whether n lists its values.
func (n *node) listsValues() bool { return n.Get("enum") != nil || n.Get("const") != nil }

func closed(v *view, n *node) {
	more := n.Get("additionalProperties")
	switch {
	case !n.object() || n.listsValues() || more != nil && more.Is("false"):
	case n.parent == nil && more == nil && n.Get("properties") == nil && n.chooses(): // its alternatives are closed
	default:
		v.report("additionalProperties", "the object is not closed")
	}
}

// chooses reports whether there are alternatives.
func (n *node) chooses() bool { return n.Get("anyOf") != nil || n.Get("oneOf") != nil }

func allRequired(v *view, n *node) {
	if properties := n.Get("properties"); properties != nil && len(properties.Members()) == 0 && n.Get("required") == nil && n.object() {
		v.report("required", "the list is missing; without properties it is []")
	}
	for _, kid := range n.kids {
		if kid.keyword == "properties" && !kid.required {
			v.report("required", "%q is not required", clip(kid.Name, 60))
		}
	}
}

func requiredDeclared(v *view, n *node) {
	properties := n.Get("properties")
	for _, name := range n.Get("required").Items() {
		if name.Kind == jsontree.KindString && properties.Get(name.Text) == nil {
			v.report("required", "%q is required but not a property", clip(name.Text, 60))
		}
	}
}

func propertiesFilled(v *view, n *node) {
	if n.parent != nil && n.kinds&jsontree.KindObject != 0 && len(n.Get("properties").Members()) == 0 && !n.listsValues() {
		v.report("properties", "the object has no properties")
	}
}

func propertyName(v *view, n *node) {
	if n.keyword != "properties" || n.parent.parent != nil && !v.form.Input.Object.NameAll {
		return
	}
	o := v.form.Input.Object
	switch length := utf8.RuneCountInString(n.Name); {
	case v.propName != nil && !v.propName.MatchString(n.Name):
		v.report("", "%q does not match %s", clip(n.Name, 80), v.propName)
	case o.NameMax > 0 && length > o.NameMax:
		v.report("", "%q has %d characters; the limit is %d", clip(n.Name, 80), length, o.NameMax)
	case slices.Contains(o.Forbidden, n.Name):
		v.report("", "%q is a name that the reader takes for a keyword", n.Name)
	case n.parent.parent == nil && slices.Contains(o.Reserved, n.Name):
		v.report("", "%q is a name that the reader adds itself", n.Name)
	}
}
