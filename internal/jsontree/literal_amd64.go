package jsontree

// literalBlocks returns how many of the n bytes at p, looked at in blocks of 32, come before
// the first that is a quote, a backslash or a control character, and a number that is 0 if
// they are ASCII. With escapes, those of one character count as text.
//
//go:noescape
func literalBlocks(p *byte, n int, escapes bool) (size int, wide uint32)
