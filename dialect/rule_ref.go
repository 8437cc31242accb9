package dialect

import "strings"

func refRules() []*Rule {
	return []*Rule{
		{
			Name: "ref", Effect: RefusesCall,
			What:  "There are no references, or they lead to $defs alone, as the reader wants it.",
			Why:   "The reader does not follow the $ref: it refuses the request, or the model sees nothing of what it points to.",
			Fix:   "Write the schema in place, or move it to $defs. Adapting does so.",
			when:  func(d *Dialect) bool { return d.Input.Ref.Inline || d.Input.Ref.Defs },
			check: eachSchema(reference),
		},
		{
			Name: "ref-unknown", Effect: RefusesCall,
			What:  "Every $ref leads to a schema in the same document.",
			Why:   "Nobody follows references into files or the network, and a reference to nowhere is refused with the whole request.",
			Fix:   "Put the schema under $defs, and refer to it. Adapting takes anything where a reference leads nowhere.",
			check: eachSchema(refUnknown),
		},
		{
			Name: "ref-siblings", Effect: RefusesCall, rest: true,
			What:  "Beside $ref stand only the keywords that the reader takes there.",
			Why:   "The reader refuses a description or a default beside $ref, or forgets it.",
			Fix:   "Move the keyword into the definition. Adapting writes the definition in place where that is needed.",
			when:  func(d *Dialect) bool { return d.Input.Ref.Siblings != nil },
			check: eachSchema(refSiblings),
		},
		{
			Name: "recursion", Effect: RefusesCall,
			What:  "References do not lead back to themselves where the reader does not take that.",
			Why:   "The reader unrolls references and gives up on a cycle, with the whole request.",
			Fix:   "Bound the depth, or make the property that leads back optional. Adapting unrolls a few levels; from there on the model writes JSON in a text.",
			check: eachSchema(recursion),
		},
	}
}

func reference(v *view, n *node) {
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if k := n.get(keyword); k != nil && (v.Input.Ref.Inline || !definition(k.text)) {
			v.report(keyword, "%s is %v", keyword, k)
		}
	}
}

// definition says that a reference leads to a definition at the root.
func definition(ref string) bool {
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	return ok && !strings.Contains(name, "/")
}

func refUnknown(v *view, n *node) {
	if k := n.get("$ref"); k != nil && n.target == nil {
		v.report("$ref", "%v leads to no schema in here", k)
	}
}

func refSiblings(v *view, n *node) {
	if n.get("$ref") == nil {
		return
	}
	allowed := v.Input.Ref.Siblings
	for _, k := range n.members() {
		if strings.HasPrefix(k.name, "$") {
			allowed = append(allowed[:len(allowed):len(allowed)], k.name)
		}
	}
	v.others(n, "$ref", allowed)
}

func recursion(v *view, n *node) {
	switch d, how := v.doc, v.Input.Ref.Recursion; {
	case n.target == nil:
	case d.loop(n, standing):
		v.report("$ref", "%v leads back to itself without going deeper into the value", n.get("$ref"))
	case how == "none" && d.loop(n, anywhere):
		v.report("$ref", "%v leads back to itself", n.get("$ref"))
	case how == "optional" && d.loop(n, compulsory):
		v.report("$ref", "%v leads back to itself through what is required", n.get("$ref"))
	}
}
