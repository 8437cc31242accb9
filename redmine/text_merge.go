package redmine

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// merge applies to theirs what changed from base to ours. It reports false where
// both changed the same words.
func merge(base, ours, theirs string) (string, bool) {
	byLine := func(text string) []string { return strings.Split(text, "\n") }
	if merged, ok := merge3(byLine(base), byLine(ours), byLine(theirs)); ok {
		return strings.Join(merged, "\n"), true
	}
	byWord := func(text string) []string { return word.FindAllString(text, -1) }
	merged, ok := merge3(byWord(base), byWord(ours), byWord(theirs))
	return strings.Join(merged, ""), ok
}

var word = lazyregexp.New(`\s|\S+`)

// merge3 merges two changes of base part by part, between the parts that neither
// changed.
func merge3(base, ours, theirs []string) (merged []string, ok bool) {
	inOurs, inTheirs := common(base, ours), common(base, theirs)
	b, o, t := 0, 0, 0
	for p := 0; p <= len(base); p++ {
		end := p == len(base)
		if !end && (inOurs[p] < 0 || inTheirs[p] < 0) {
			continue
		}
		toOurs, toTheirs := len(ours), len(theirs)
		if !end {
			toOurs, toTheirs = inOurs[p], inTheirs[p]
		}
		part, ok := mergePart(base[b:p], ours[o:toOurs], theirs[t:toTheirs])
		if !ok {
			return nil, false
		}
		if merged = append(merged, part...); !end {
			merged = append(merged, base[p])
		}
		b, o, t = p+1, toOurs+1, toTheirs+1
	}
	return merged, true
}

// mergePart merges one part. Of two insertions at one place both stay, and what is
// in both stays once.
func mergePart(base, ours, theirs []string) ([]string, bool) {
	switch {
	case slices.Equal(base, ours), slices.Equal(ours, theirs):
		return theirs, true
	case slices.Equal(base, theirs):
		return ours, true
	case len(base) == 0:
		missing := slices.DeleteFunc(slices.Clone(ours), func(part string) bool { return slices.Contains(theirs, part) })
		return slices.Concat(theirs, missing), true
	}
	return nil, false
}

// maxCompared bounds the work of one comparison.
const maxCompared = 4 << 20

// common returns for each part of a its index in b, -1 for none, by the longest
// common subsequence.
func common(a, b []string) []int {
	at := make([]int, len(a))
	for i := range at {
		at[i] = -1
	}
	first := commonPrefix(a, b)
	for i := range first {
		at[i] = i
	}
	lastA, lastB := len(a), len(b)
	for lastA > first && lastB > first && a[lastA-1] == b[lastB-1] {
		lastA, lastB = lastA-1, lastB-1
		at[lastA] = lastB
	}
	a, b = a[first:lastA], b[first:lastB]
	if len(a)*len(b) > maxCompared {
		return at
	}
	for _, p := range subsequence(a, b) {
		at[first+p[0]] = first + p[1]
	}
	return at
}

// commonPrefix returns how many parts at the begin are the same.
func commonPrefix(a, b []string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// subsequence is the longest common subsequence, as pairs of indexes.
func subsequence(a, b []string) (pairs [][2]int) {
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width) // of what is common from i and j on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
