package jsontree

// quoteBlocks writes the n bytes at from as a part of a JSON string to the room bytes at to,
// in blocks of 32, with line breaks, quotes and backslashes escaped. It stops before another
// control character, and where the room may not be enough.
//
//go:noescape
func quoteBlocks(to *byte, room int, from *byte, n int) (read, written int)
