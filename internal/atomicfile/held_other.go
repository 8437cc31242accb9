//go:build !windows

package atomicfile

// isHeldOpen reports false: an open file can be renamed and replaced here.
func isHeldOpen(error) bool { return false }
