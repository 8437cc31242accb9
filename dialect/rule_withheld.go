package dialect

// withheldRules are about tools that nothing helps: only adapting finds them.
func withheldRules() []*Rule {
	return []*Rule{
		{
			Name: "unsatisfiable", All: true, Effect: BreaksCall,
			What:  "There are arguments that fit the input schema.",
			Why:   "A tool whose schema no object fits cannot be called, and readers refuse what is left of such a schema.",
			Fix:   "Look for a required property that is false, an empty enum, or parts of an allOf that contradict each other. The tool is withheld when the list is adapted.",
			check: adapting{},
		},
		{
			Name: "internal", All: true, Effect: Advice,
			What:  "Toolpost can adapt the tool.",
			Why:   "There is a defect in Toolpost: the tool is withheld, and the others are not concerned.",
			Fix:   "Report it with the definition of the tool. Until then, choose the dialect none for the client.",
			check: adapting{},
		},
	}
}

// adapting is the check of a rule that lint does not look for.
type adapting struct{}

func (adapting) join(*linter, *Rule) {}
