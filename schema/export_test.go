package schema

// IsFast says that v checks raw bytes, without the full validator.
func IsFast(v *Validator) bool { return v.root != nil }

// CheckSyntax returns the syntax problem of data, nil if there is none.
func CheckSyntax(data []byte) *Problem { return checkSyntax(data, maxDepth) }
