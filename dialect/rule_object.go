package dialect

import (
	"slices"
	"unicode/utf8"

	"github.com/toolpost/toolpost/schema"
)

func objectRules() []*Rule {
	return []*Rule{
		{
			Name: "map", Effect: RefusesCall,
			What:  "Objects have named properties only; nothing else may be a member.",
			Why:   "The reader forgets what additionalProperties allows. The model then always sends {}.",
			Fix:   "Take a list of keys and values. Adapting does so, or asks for JSON in a text, and gives the tool the object.",
			when:  func(d *Dialect) bool { return d.Input.Object.Maps != "" },
			check: eachSchema(openMembers),
		},
		{
			Name: "closed", Effect: RefusesCall, rest: true,
			What:  `Every object has "additionalProperties": false.`,
			Why:   "The reader makes a grammar of the schema, and refuses objects that leave open what may be in them.",
			Fix:   `Write "additionalProperties": false. Adapting does so.`,
			when:  func(d *Dialect) bool { return d.Input.Object.Closed },
			check: eachSchema(closed),
		},
		{
			Name: "all-required", Effect: RefusesCall,
			What:  "Every property is required; what may be missing takes null.",
			Why:   "The reader refuses schemas with optional properties.",
			Fix:   "Require the property, and let it take null. Adapting does so, and leaves properties that are null out again.",
			when:  func(d *Dialect) bool { return d.Input.Object.AllRequired },
			check: eachSchema(allRequired),
		},
		{
			Name: "required-declared", Effect: RefusesCall,
			What:  "What is required is among the properties.",
			Why:   "The reader refuses a required name that no property has.",
			Fix:   "Declare the property. Adapting adds one that takes anything.",
			when:  func(d *Dialect) bool { return d.Input.Object.Declared },
			check: eachSchema(requiredDeclared),
		},
		{
			Name: "properties-filled", Effect: RefusesCall, rest: true,
			What:  "Every object inside a schema has at least one property.",
			Why:   "The reader refuses an object without properties.",
			Fix:   "Say which properties there are. Adapting asks for JSON in a text.",
			when:  func(d *Dialect) bool { return d.Input.Object.Filled },
			check: eachSchema(propertiesFilled),
		},
		{
			Name: "property-name", Effect: RefusesCall,
			What: "Names of parameters have only the characters that the reader takes, and are not too long.",
			Why:  "One key such as filter[id] or $top, and the model's API refuses the whole request.",
			Fix:  "Rename the parameter. Adapting does so, and gives the tool the original name.",
			when: func(d *Dialect) bool {
				o := d.Input.Object
				return o.Name != "" || o.NameMax > 0 || len(o.Reserved) > 0
			},
			check: eachSchema(propertyName),
		},
	}
}

func openMembers(v *view, n *node) {
	if !n.object() || n.listed() {
		return
	}
	if n.get("patternProperties") != nil {
		v.report("patternProperties", "members are allowed by the form of their names")
	}
	switch more := n.get("additionalProperties"); {
	case more != nil && more.kind != 'f':
		v.report("additionalProperties", "members of any name are allowed")
	case more == nil && n.parent != nil && len(n.get("properties").members())+len(n.get("required").items()) == 0:
		v.report("additionalProperties", "the object has no properties, so that members of any name are allowed")
	}
}

// listed says that the values are told one by one.
func (n *node) listed() bool { return n.get("enum") != nil || n.get("const") != nil }

func closed(v *view, n *node) {
	more := n.get("additionalProperties")
	switch {
	case !n.object() || n.listed() || more != nil && more.kind == 'f':
	case n.parent == nil && more == nil && n.get("properties") == nil && n.chooses(): // its alternatives are closed
	default:
		v.report("additionalProperties", "the object is not closed")
	}
}

// chooses says that there are alternatives.
func (n *node) chooses() bool { return n.get("anyOf") != nil || n.get("oneOf") != nil }

func allRequired(v *view, n *node) {
	for _, kid := range n.kids {
		if kid.keyword == "properties" && !kid.required {
			v.report("required", "%q is not required", clip(kid.name, 60))
		}
	}
}

func requiredDeclared(v *view, n *node) {
	properties := n.get("properties")
	for _, name := range n.get("required").items() {
		if name.kind == '"' && properties.get(name.text) == nil {
			v.report("required", "%q is required and no property", clip(name.text, 60))
		}
	}
}

func propertiesFilled(v *view, n *node) {
	if n.parent != nil && n.kinds&schema.KindObject != 0 && len(n.get("properties").members()) == 0 && !n.listed() {
		v.report("properties", "the object has no properties")
	}
}

func propertyName(v *view, n *node) {
	if n.keyword != "properties" || n.parent.parent != nil && !v.Input.Object.NameAll {
		return
	}
	o := v.Input.Object
	switch length := utf8.RuneCountInString(n.name); {
	case v.propName != nil && !v.propName.MatchString(n.name):
		v.report("", "%q does not match %s", clip(n.name, 80), v.propName)
	case o.NameMax > 0 && length > o.NameMax:
		v.report("", "%q has %d characters, at most %d are taken", clip(n.name, 80), length, o.NameMax)
	case n.parent.parent == nil && slices.Contains(o.Reserved, n.name):
		v.report("", "%q is a name that the reader uses itself", n.name)
	}
}
