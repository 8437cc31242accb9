package schema

// IsFast says that v checks raw bytes, without the full validator.
func IsFast(v *Validator) bool { return v.root != nil }
