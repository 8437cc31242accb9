//go:build !amd64

package jsontree

// quoteBlocks leaves all bytes to its caller.
func quoteBlocks(*byte, int, *byte, int) (read, written int) { return 0, 0 }
