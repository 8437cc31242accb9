package dialect

import "github.com/toolpost/toolpost"

func listRules() []*Rule {
	return []*Rule{
		{
			Name: "tool-count", Effect: LosesSilently,
			What:  "There are not more tools than the reader takes, over all servers.",
			Why:   "Tools beyond the limit are left out, or the whole request is refused. Long before that, models choose worse.",
			Fix:   "Offer fewer tools: filter them in the configuration.",
			when:  func(d *Dialect) bool { return d.List.Tools > 0 },
			check: wholeList(toolCount),
		},
		{
			Name: "token-count", Effect: Advice,
			What:  "The definitions of all tools together cost not too many tokens.",
			Why:   "Every request carries them all. They cost money, and leave less room for the work.",
			Fix:   "Offer fewer tools, or shorten descriptions.",
			when:  func(d *Dialect) bool { return d.List.Tokens > 0 },
			check: wholeList(tokenCount),
		},
	}
}

func toolCount(v *view, tools []*toolpost.Tool) {
	if len(tools) > v.List.Tools {
		v.tell("", "", "there are %d tools, at most %d are taken", len(tools), v.List.Tools)
	}
}

func tokenCount(v *view, tools []*toolpost.Tool) {
	tokens := 0
	for _, t := range tools {
		tokens += Tokens(t)
	}
	if tokens > v.List.Tokens {
		v.tell("", "", "the definitions have about %d tokens, at most %d are advised", tokens, v.List.Tokens)
	}
}
