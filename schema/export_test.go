package schema

// CheckSyntax returns the syntax problem of data, nil if there is none.
func CheckSyntax(data []byte) *Problem { return checkSyntax(data, maxDepth) }
