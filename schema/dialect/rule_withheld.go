package dialect

// withheldRules are about tools that nothing helps: only adapting finds them.
func withheldRules() []*Rule {
	return []*Rule{
		{
			Name: "unsatisfiable", All: true, Effect: breaksCall,
			What: "At least one set of arguments matches the input schema.",
			Why:  "A tool cannot be called if no object matches its schema, and readers refuse what remains of such a schema.",
			Fix:  "Look for a required property with the schema false, an empty enum, or contradicting parts of an allOf. The tool is withheld when it is adapted.",
		},
		{
			Name: "internal", All: true, Effect: advice,
			What: "Toolpost can adapt the tool.",
			Why:  "Toolpost has a defect: the tool is withheld; other tools are not affected.",
			Fix:  "Report the defect with the tool's definition. Until it is fixed, choose the dialect none for the client.",
		},
	}
}
