package grep

// A pair looks for two bytes of a literal at once, in many places with each
// step. Where each of them is frequent, that is faster than to stop at one.
type pair struct {
	at   [2]int    // in the literal, in order
	want [2]uint64 // each byte, eight times
	fold [2]uint64 // the bit that is set in it first, where case does not count
}

func newPair(l literal, first, second int) *pair {
	p := &pair{at: [2]int{min(first, second), max(first, second)}}
	for i, at := range p.at {
		const eight = 0x0101010101010101
		p.want[i] = eight * uint64(l.low[at])
		p.fold[i] = eight * uint64(l.low[at]^l.high[at])
	}
	return p
}

// rarestPair returns the pair of two places in l that is least often in data.
func rarestPair(l literal, places []int, data []byte) (best *pair) {
	least := len(data)
	for i, first := range places {
		for _, second := range places[:i] {
			p := newPair(l, first, second)
			if n := p.count(data, least); best == nil || n < least {
				best, least = p, n
			}
		}
	}
	return best
}

// count returns how often the pair is in data, up to limit.
func (p *pair) count(data []byte, limit int) (n int) {
	for at := p.next(data, 0); at >= 0 && n < limit; at = p.next(data, at+1) {
		n++
	}
	return n
}

// next returns the first place, from byte from on, where the literal may be;
// -1 if there is none.
func (p *pair) next(data []byte, from int) int {
	if from+p.at[1] >= len(data) {
		return -1
	}
	b := data[from+p.at[1]:]
	a := data[from+p.at[0]:][:len(b)]
	for i := indexPair(&a[0], &b[0], len(b), &p.want, &p.fold); i < len(b); i++ {
		if a[i]|byte(p.fold[0]) == byte(p.want[0]) && b[i]|byte(p.fold[1]) == byte(p.want[1]) {
			return from + i
		}
	}
	return -1
}
