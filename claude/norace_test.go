//go:build !race

package claude_test

const raced = false
