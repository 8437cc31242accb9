package config

// SyntaxProblem returns what is reported of a file where its parser ends with err.
func SyntaxProblem(data string, err error) Problem {
	s := newSource("toolpost.json", []byte(data))
	s.syntax(err)
	return s.problems[0]
}

// RedmineGroups are the groups of tools that the file may name.
var RedmineGroups = redmineGroups
