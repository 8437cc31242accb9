//go:build !race

package lower_test

const share = 1
