package floors

import (
	"fmt"
	"strings"
)

// Limits of the ground, which is all of internal but its rooms access and policy. A newcomer
// has to know the ground before any other folder. What only one folder uses belongs below
// that folder, in an internal of its own.
const (
	maxGroundPackages = 26
	maxGroundLines    = 12_000
)

// Ground checks that the ground stays small enough to be known.
func Ground(files []*File) []Problem {
	inGround, lines := map[string]bool{}, 0
	for _, f := range files {
		if within("internal", f.Package) && !within("internal/access", f.Package) && !within("internal/policy", f.Package) {
			inGround[f.Package] = true
			lines += strings.Count(f.Source, "\n")
		}
	}
	const remedy = "; move what only one folder uses to the internal folder of that one"
	var found []Problem
	if n := len(inGround); n > maxGroundPackages {
		found = append(found, Problem{"internal", fmt.Sprintf("the ground has %d packages, at most %d", n, maxGroundPackages) + remedy})
	}
	if lines > maxGroundLines {
		found = append(found, Problem{"internal", fmt.Sprintf("the ground has %d lines, at most %d", lines, maxGroundLines) + remedy})
	}
	return found
}
