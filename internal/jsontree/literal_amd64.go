package jsontree

// literalBlocks returns how many of the n bytes at p, in whole blocks of 32, come before the
// first that is a quote, a backslash or a control character, and a number that is 0 if they
// are ASCII.
//
//go:noescape
func literalBlocks(p *byte, n int) (size int, wide uint32)
