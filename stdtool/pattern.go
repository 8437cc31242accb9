package stdtool

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/toolpost/toolpost"
)

// A pattern is a glob: the alternatives that its braces stand for.
type pattern []alternative

// An alternative is one way to match a path.
type alternative struct {
	wildcard
	folder bool // it ends with a slash: only directories match
}

const (
	maxPattern      = 1000 // bytes of a pattern
	maxAlternatives = 256
)

func parsePattern(s string) (pattern, error) {
	if len(s) > maxPattern {
		return nil, toolpost.Retry.Errorf("the pattern has %d bytes, and the limit is %d: give a shorter one", len(s), maxPattern)
	}
	all, ok := expandBraces(norm.NFC.String(s), maxAlternatives)
	if !ok {
		return nil, toolpost.Retry.Errorf("pattern %q has more than %d alternatives in braces: use several simpler patterns", s, maxAlternatives)
	}
	var p pattern
	for _, text := range all {
		if path.IsAbs(text) || slices.Contains(strings.Split(text, "/"), "..") {
			return nil, toolpost.Retry.Errorf("pattern %q leads out of the served folder: give one relative to path, such as **/*.go", s)
		}
		folder := strings.HasSuffix(text, "/")
		text = path.Clean(text)
		outer := text // a/** matches a too
		for strings.HasSuffix(outer, "/**") {
			outer = strings.TrimSuffix(outer, "/**")
		}
		texts := []string{text}
		if outer != text {
			texts = []string{outer, outer + "/**"}
		}
		for _, text := range texts {
			w, ok := newWildcard(text, false)
			if !ok {
				return nil, toolpost.Retry.Errorf("pattern %q: %q is not a valid pattern; escape [ with \\", s, text)
			}
			p = append(p, alternative{w, folder})
		}
	}
	return p, nil
}

// expandBraces returns the strings that s with its {a,b} stands for. It stops
// and returns false as soon as there are more than limit.
func expandBraces(s string, limit int) (all []string, ok bool) {
	waiting := []string{s} // the next one is the last
	for len(waiting) > 0 {
		s := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		open, end, commas := firstBraces(s)
		if len(commas) == 0 {
			all = append(all, s)
			continue
		}
		// Each string that waits becomes at least one result.
		if len(all)+len(waiting)+len(commas)+1 > limit {
			return nil, false
		}
		commas = append([]int{open}, commas...)
		for i, end2 := range slices.Backward(append(commas, end)[1:]) {
			waiting = append(waiting, s[:open]+s[commas[i]+1:end2]+s[end+1:])
		}
	}
	return all, true
}

// firstBraces finds the first group in braces that has a comma of its own.
// Braces without one stand for themselves.
func firstBraces(s string) (open, end int, commas []int) {
	type group struct {
		open   int
		commas []int
	}
	var groups []group // those that are open, the innermost last
	for i := 0; i < len(s); i++ {
		last := len(groups) - 1
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '{':
			groups = append(groups, group{open: i})
		case c == ',' && last >= 0:
			groups[last].commas = append(groups[last].commas, i)
		case c == '}' && last >= 0:
			if g := groups[last]; len(g.commas) > 0 && (commas == nil || g.open < open) {
				open, end, commas = g.open, i, g.commas
				if last == 0 {
					return open, end, commas
				}
			}
			groups = groups[:last]
		}
	}
	return open, end, commas
}

// match reports whether the pattern matches name, and, if that is a folder, whether
// it could match something inside name.
func (p pattern) match(name string, folder bool) (full, inside bool) {
	name = norm.NFC.String(name)
	for i := range p {
		f, in := p[i].wildcard.match(name, folder)
		full, inside = full || f && (folder || !p[i].folder), inside || in
	}
	return full, inside
}
