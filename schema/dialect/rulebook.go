package dialect

import (
	"slices"
	"strings"
	"sync"
)

// severities has the effects, the worst first.
var severities = []Effect{
	killsSession, killsServer, refusesCall, dropsTool, breaksCall, losesSilently, truncates, rewrites, advice,
}

// rulebook returns all rules: those that hold for every reader, those about
// one thing, and at the end those that report what no other rule reports.
func rulebook() []*Rule {
	return slices.Concat(
		poisonRules(),
		headerRules(),
		hiddenRules(),
		nameRules(),
		descriptionRules(),
		rootRules(),
		unionRules(),
		typeRules(),
		enumRules(),
		textRules(),
		mapRules(),
		objectRules(),
		arrayRules(),
		refRules(),
		limitRules(),
		listRules(),
		outputRules(),
		withheldRules(),
		offRules(),
		keywordRules(),
	)
}

// sharedRules are the rules of every linter, which changes none of them.
var sharedRules = sync.OnceValue(rulebook)

// Rules returns all rules, sorted by name.
func Rules() []*Rule {
	rules := rulebook()
	slices.SortFunc(rules, func(a, b *Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}
