package schema

import "github.com/toolpost/toolpost/internal/jsontree"

// CheckSyntax returns the syntax problem of data, nil if there is none.
func CheckSyntax(data []byte) *Problem {
	_, broken := jsontree.Parse(data, maxDepth)
	if broken == nil {
		return nil
	}
	return syntaxProblem(broken, data)
}
