package stdtool

import "bytes"

const (
	minSimilar = 0.6
	maxBlocks  = 1000 // blocks that are compared; where there are more, none is unique
	maxCompare = 500  // bytes of a line that may differ a little
	different  = 1 << 30
)

// findBlock finds lines of which the first and the last are those of old, but
// for whitespace, and the lines between are similar.
func findBlock(content []byte, old, new string) []match {
	c, all := newChange(old, new), rows(content)
	n := len(c.old)
	want, have := hashed(c, content, all)
	if n < 3 || len(words([]byte(c.old[0]))) == 0 || len(words([]byte(c.old[n-1]))) == 0 {
		return nil
	}
	var found []match
	var p pairs
	for i, compared := 0, 0; i+n <= len(have); i++ {
		if have[i] != want[0] || have[i+n-1] != want[n-1] {
			continue
		}
		if compared++; compared > maxBlocks {
			return nil
		}
		var s similarity
		for k := 1; k < n-1; k++ {
			r := all[i+k]
			s.add(p.common([]byte(c.old[k]), content[r.from:r.to]))
		}
		if s.value() >= minSimilar {
			found = append(found, c.at(content, all, i))
		}
	}
	return found
}

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

func clipped(line []byte) []byte {
	line = bytes.TrimSpace(line)
	return line[:min(len(line), maxCompare)]
}
