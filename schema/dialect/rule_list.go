package dialect

import "github.com/toolpost/toolpost"

func listRules() []*Rule {
	return []*Rule{
		{
			Name: "tool-count", Effect: losesSilently,
			What:  "The number of tools, over all servers, is within the reader's limit.",
			Why:   "Tools beyond the limit are left out, or the whole request is refused. Long before that, models choose tools less well.",
			Fix:   "Offer fewer tools: filter them in the configuration, or let search list them.",
			when:  func(d *Dialect) bool { return d.form.List.Tools > 0 },
			check: check{list: toolCount},
		},
		{
			Name: "token-count", Effect: advice,
			What:  "The definitions of all tools together do not cost too many tokens.",
			Why:   "Every request contains all of them. They cost money and leave less room for the task.",
			Fix:   "Offer fewer tools, or shorten descriptions.",
			when:  func(d *Dialect) bool { return d.form.List.Tokens > 0 },
			check: check{list: tokenCount},
		},
	}
}

func toolCount(v *view, tools []*toolpost.Tool) {
	if len(tools) > v.form.List.Tools {
		v.add("", "", "there are %d tools; the limit is %d", len(tools), v.form.List.Tools)
	}
}

func tokenCount(v *view, tools []*toolpost.Tool) {
	tokens := 0
	for _, t := range tools {
		tokens += Tokens(t)
	}
	if tokens > v.form.List.Tokens {
		v.add("", "", "the definitions have about %d tokens; at most %d are recommended", tokens, v.form.List.Tokens)
	}
}
