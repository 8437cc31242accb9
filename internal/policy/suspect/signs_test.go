package suspect

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestHints makes texts that match the patterns: each must have a hint of its sign, or
// it would not be found.
func TestHints(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range signs() {
		tree, err := syntax.Parse(s.pattern.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		matches := 0
		for range 3000 {
			text := matching(tree, random)
			words := s.pattern.FindString(text)
			if words != "" {
				matches++
			}
			if found := s.find(text); found != words {
				t.Fatalf("%s: %q has no hint of %q, and is found as %q", s.what, text, s.hints, found)
			}
		}
		if matches < 1000 {
			t.Errorf("%s: only %d texts match", s.what, matches)
		}
	}
}

// matching returns a text that an expression matches, if there is a word boundary
// where the expression wants one.
func matching(re *syntax.Regexp, random *rand.Rand) string {
	times := 1
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(oneOf(re.Rune, random))
	case syntax.OpAlternate:
		return matching(re.Sub[random.IntN(len(re.Sub))], random)
	case syntax.OpQuest:
		times = random.IntN(2)
	case syntax.OpStar:
		times = random.IntN(3)
	case syntax.OpPlus:
		times = 1 + random.IntN(3)
	case syntax.OpRepeat:
		times = re.Min + random.IntN(re.Max-re.Min+1)
	}
	var text strings.Builder
	for range times {
		for _, part := range re.Sub {
			text.WriteString(matching(part, random))
		}
	}
	return text.String()
}

// oneOf returns a character of a class, an ASCII one if there is one.
func oneOf(ranges []rune, random *rand.Rand) rune {
	var all []rune
	for bounds := range slices.Chunk(ranges, 2) {
		for r := max(bounds[0], ' '); r <= min(bounds[1], '~'); r++ {
			all = append(all, r)
		}
	}
	if all == nil {
		return ranges[0]
	}
	return all[random.IntN(len(all))]
}
