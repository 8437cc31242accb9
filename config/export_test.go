package config

import "github.com/toolpost/toolpost/internal/policy/approval"

// Policy returns what rules of a configuration decide.
func Policy(lists []ApprovalList) (approval.Policy, error) {
	var all []approval.List
	for _, l := range lists {
		all = append(all, approval.List{Name: l.Name, Rules: policyRules(l.Rules)})
	}
	return approval.Compile(all)
}

// SyntaxProblem returns what is reported of a file where its parser ends with err.
func SyntaxProblem(data string, err error) Problem {
	s := newSource("toolpost.json", []byte(data))
	s.syntax(err)
	return s.problems[0]
}

// RedmineGroups are the groups of tools that the file may name.
var RedmineGroups = redmineGroups
