//go:build !race

package grep_test

const share = 1
