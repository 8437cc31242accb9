package grep

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A literal is a text that each match contains. Where case does not count, its
// bytes may be those of low or of high.
type literal struct{ low, high []byte }

// literals returns texts that all matches contain, and whether matches are
// nothing else than the only one of them.
func literals(re *syntax.Regexp) (all []literal, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return runs(re)
	case syntax.OpCapture:
		return literals(re.Sub[0])
	case syntax.OpConcat, syntax.OpPlus:
		for _, sub := range re.Sub {
			more, _ := literals(sub)
			all = append(all, more...)
		}
	case syntax.OpRepeat:
		if re.Min > 0 {
			all, _ = literals(re.Sub[0])
		}
	}
	return all, false
}

// runs returns the parts of a literal that can be compared byte by byte.
func runs(re *syntax.Regexp) (all []literal, exact bool) {
	exact = true
	var l literal
	end := func() {
		if len(l.low) > 0 {
			all = append(all, l)
		}
		l = literal{}
	}
	for _, r := range re.Rune {
		low, high, ok := cases(r, re.Flags&syntax.FoldCase != 0)
		if !ok {
			end()
			exact = false
			continue
		}
		l.low, l.high = utf8.AppendRune(l.low, low), utf8.AppendRune(l.high, high)
		exact = exact && r != '\r' // which may belong to the line's end
	}
	end()
	return all, exact && len(all) == 1
}

// cases returns the two forms of a rune; not where there are more, or longer
// ones, or where other bytes stand for the rune.
func cases(r rune, fold bool) (low, high rune, ok bool) {
	other := unicode.SimpleFold(r)
	switch {
	case r == utf8.RuneError:
		return 0, 0, false
	case !fold || other == r:
		return r, r, true
	}
	return unicode.ToLower(r), unicode.ToUpper(r), max(r, other) < utf8.RuneSelf && unicode.SimpleFold(other) == r
}

// A finder looks for a literal by one of its bytes, or by two.
type finder struct {
	literal
	at     int    // of the byte that is looked for
	cursor [2]int // where it is next, in either case
	pair   *pair  // instead, if that byte is frequent
	effort int    // that is left: see plan.go
}

// next returns where in data, from byte from on, the literal is; -1 if nowhere,
// or if there is no effort left. Then f.effort is negative, and up is the
// end of the part that was searched.
func (f *finder) next(data []byte, from int) (at, up int) {
	for ; ; from++ {
		if from = f.candidate(data, from); from < 0 {
			return -1, len(data)
		}
		if f.equal(data[from:]) {
			return from, from
		}
		if f.effort--; f.effort < 0 {
			return -1, from + 1
		}
	}
}

// candidate returns where the literal may be; -1 if nowhere.
func (f *finder) candidate(data []byte, from int) int {
	if f.pair != nil {
		return f.pair.next(data, from)
	}
	low, high := f.low[f.at], f.high[f.at]
	from += f.at
	f.cursor[0] = ahead(data, low, from, f.cursor[0])
	byteAt := f.cursor[0]
	if high != low {
		f.cursor[1] = ahead(data, high, from, f.cursor[1])
		byteAt = min(byteAt, f.cursor[1])
	}
	if byteAt == len(data) {
		return -1
	}
	return byteAt - f.at
}

// ahead returns where c is from byte from on; known is where it was before.
func ahead(data []byte, c byte, from, known int) int {
	if known >= from {
		return known
	}
	if from < len(data) {
		if i := bytes.IndexByte(data[from:], c); i >= 0 {
			return from + i
		}
	}
	return len(data)
}

func (f *finder) equal(data []byte) bool {
	if len(data) < len(f.low) {
		return false
	}
	for i, c := range data[:len(f.low)] {
		if c != f.low[i] && c != f.high[i] {
			return false
		}
	}
	return true
}

// choose returns the finder that has least to do in data, and the effort; it
// is nil without literals.
func choose(all []literal, exact bool, data []byte) (best *finder, least int) {
	var often [256]int
	for _, c := range data[:min(len(data), sample)] {
		often[c]++
	}
	data = data[:min(len(data), 4*sample)]
	for _, l := range all {
		f := newFinder(l, &often, data)
		effort := f.tries(data, exact)
		if best == nil || effort < least {
			best, least = f, effort
		}
	}
	return best, least
}

// newFinder returns the finder by the rarest byte of a literal or, if that is
// frequent, by the rarest pair of its rarest bytes, where often has the number
// of each in a part of data.
func newFinder(l literal, often *[256]int, data []byte) *finder {
	rarest := make([]int, len(l.low))
	for i := range rarest {
		rarest[i] = i
	}
	count := func(i int) int {
		if l.low[i] == l.high[i] {
			return often[l.low[i]]
		}
		return often[l.low[i]] + often[l.high[i]]
	}
	slices.SortStableFunc(rarest, func(a, b int) int { return count(a) - count(b) })
	f := &finder{literal: l, at: rarest[0]}
	if fastPairs && len(rarest) > 1 && count(f.at) > sample/frequent {
		f.pair = rarestPair(l, rarest[:min(len(rarest), paired)], data[:min(len(data), sample)])
	}
	return f
}

// tries returns the effort of searching data.
func (f *finder) tries(data []byte, exact bool) int {
	f.begin(len(data))
	effort := f.effort
	for at, up := f.next(data, 0); up < len(data) && f.effort > 0; at, up = f.next(data, up) {
		if at >= 0 && !exact {
			f.effort -= check
		}
		up = lineEnd(data, up)
	}
	return effort - f.effort
}

func (f *finder) begin(effort int) {
	f.cursor, f.effort = [2]int{-1, -1}, effort
}
