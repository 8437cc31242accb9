package longjson

// unescapeBlocks writes to the n bytes at to what the n bytes at from, a part of the content of a
// JSON string, stand for, in blocks of 32. It stops before an escape that is not a line
// break, a quote or a backslash. The two may not overlap.
//
//go:noescape
func unescapeBlocks(to, from *byte, n int) (read, written int)
