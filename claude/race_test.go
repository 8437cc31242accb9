//go:build race

package claude_test

// raced says that the race detector is on: memory and time are not what they are.
const raced = true
