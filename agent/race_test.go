//go:build race

package agent_test

const raced = true
