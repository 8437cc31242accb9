package stdtool

import "bytes"

const (
	minSimilar = 0.6
	maxBlocks  = 1000 // blocks that are compared; where there are more, none is unique
	maxCompare = 500  // bytes of a line that may differ a little
	different  = 1 << 30
)

// A similarity is the share of character pairs that texts have in common
// (https://en.wikipedia.org/wiki/Dice-Sørensen_coefficient).
type similarity struct{ common, all int }

func (s *similarity) add(common, all int) { s.common, s.all = s.common+common, s.all+all }

func (s *similarity) value() float64 {
	if s.all == 0 {
		return 1
	}
	return 2 * float64(s.common) / float64(s.all)
}

// pairs counts pairs of bytes. It is zero between uses.
type pairs [1 << 16]uint16

// common counts the pairs that a and b have in common, and all that they have.
func (p *pairs) common(a, b []byte) (common, all int) {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	switch {
	case bytes.Equal(a, b):
		return max(1, len(a)), 2 * max(1, len(a))
	case max(len(a), len(b)) > maxCompare:
		return 0, different
	case min(len(a), len(b)) < 2:
		return 0, 2 * max(len(a), len(b))
	}
	for i := 1; i < len(a); i++ {
		p[pair(a, i)]++
	}
	for i := 1; i < len(b); i++ {
		if at := pair(b, i); p[at] > 0 {
			p[at]--
			common++
		}
	}
	for i := 1; i < len(a); i++ {
		p[pair(a, i)] = 0
	}
	return common, max(0, len(a)-1) + max(0, len(b)-1)
}

func pair(s []byte, i int) int { return int(s[i-1])<<8 | int(s[i]) }

func clipLine(line []byte) []byte {
	line = bytes.TrimSpace(line)
	return line[:min(len(line), maxCompare)]
}
