package dialect

import "strings"

func refRules() []*Rule {
	return []*Rule{
		{
			Name: "ref", Effect: refusesCall,
			What:  "The schema has no references, or only references to $defs, depending on the reader.",
			Why:   "The reader does not follow the $ref: it refuses the request, or the model does not see the referenced schema.",
			Fix:   "Write the schema in place, or move it to $defs. Adapting does this.",
			when:  func(d *Dialect) bool { return d.form.Input.Ref.Inline || d.form.Input.Ref.Defs },
			check: check{schema: reference},
		},
		{
			Name: "ref-unknown", Effect: refusesCall,
			What:  "Every $ref refers to a schema in the same document.",
			Why:   "No reader follows references to files or the network, and a dangling reference makes it refuse the whole request.",
			Fix:   "Put the schema under $defs, and refer to it. Adapting replaces a dangling reference with a schema that accepts any value.",
			check: check{schema: refUnknown},
		},
		{
			Name: "ref-siblings", Effect: refusesCall, rest: true,
			What:  "The keywords beside $ref are those that the reader accepts there.",
			Why:   "The reader refuses a description or a default beside $ref, or ignores it.",
			Fix:   "Move the keyword into the definition. Adapting writes the definition in place where necessary.",
			when:  func(d *Dialect) bool { return d.form.Input.Ref.Siblings != nil },
			check: check{schema: refSiblings},
		},
		{
			Name: "recursion", Effect: refusesCall,
			What:  "References are not recursive where the reader does not support that.",
			Why:   "The reader unrolls references, and refuses the whole request because of a cycle.",
			Fix:   "Limit the depth, or make the recursive property optional. Adapting unrolls a few levels; below them the model writes a string that contains JSON.",
			check: check{schema: recursion},
		},
	}
}

func reference(v *view, n *node) {
	if n.parent == nil && !v.form.Input.Ref.Inline {
		for _, d := range n.Get("$defs").Members() {
			if strings.Contains(d.Name, "/") {
				v.report("$defs", "%q is the name of a definition", clip(d.Name, 60))
			}
		}
	}
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if k := n.Get(keyword); k != nil && (v.form.Input.Ref.Inline || !definition(k.Text)) {
			v.report(keyword, "%s is %v", keyword, k)
		}
	}
}

// definition reports whether a reference leads to a definition at the root.
func definition(ref string) bool {
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	return ok && !strings.Contains(name, "/")
}

func refUnknown(v *view, n *node) {
	if k := n.Get("$ref"); k != nil && n.target == nil {
		v.report("$ref", "%v does not refer to a schema in this document", k)
	}
}

func refSiblings(v *view, n *node) {
	if n.Get("$ref") == nil {
		return
	}
	allowed := v.form.Input.Ref.Siblings
	for _, k := range n.Members() {
		if strings.HasPrefix(k.Name, "$") {
			allowed = append(allowed[:len(allowed):len(allowed)], k.Name)
		}
	}
	v.reportSiblings(n, "$ref", allowed)
}

func recursion(v *view, n *node) {
	switch d, how := v.doc, v.form.Input.Ref.Recursion; {
	case n.target == nil:
	case d.loop(n, standing):
		v.report("$ref", "%v refers to itself without descending into the value", n.Get("$ref"))
	case how == "none" && d.loop(n, anywhere):
		v.report("$ref", "%v refers to itself", n.Get("$ref"))
	case how == "optional" && d.loop(n, compulsory):
		v.report("$ref", "%v refers to itself through required properties", n.Get("$ref"))
	}
}
