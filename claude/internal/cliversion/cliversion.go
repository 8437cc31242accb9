// Package cliversion compares versions of the CLI.
package cliversion

import (
	"strconv"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

var pattern = lazyregexp.New(`^\s*v?((\d+)\.(\d+)\.(\d+)[-+.\w]*)`)

// Parse returns the version at the beginning of a text, and its three numbers; nil if there
// is none.
func Parse(text string) []string { return pattern.FindStringSubmatch(text) }

// AtLeast reports whether version is least or newer.
func AtLeast(version, least string) bool {
	have, want := Parse(version), Parse(least)
	if have == nil || want == nil {
		return false
	}
	for i := 2; i <= 4; i++ {
		h, _ := strconv.Atoi(have[i]) // digits; more than an int holds is the largest
		w, _ := strconv.Atoi(want[i])
		if h != w {
			return h > w
		}
	}
	return true
}
