package stdtool

import (
	"path"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A pattern is a glob: its alternatives, split at slashes. A part ** stands
// for any number of folders; the others are those of [path.Match].
type pattern [][]string

const maxAlternatives = 256

func parsePattern(s string) (pattern, error) {
	if path.IsAbs(s) || slices.Contains(strings.Split(s, "/"), "..") {
		return nil, toolpost.Retry("pattern %q leads outside: give one relative to path, such as **/*.go", s)
	}
	all, ok := alternatives(s, maxAlternatives)
	if !ok {
		return nil, toolpost.Retry("pattern %q has more than %d alternatives in braces", s, maxAlternatives)
	}
	var p pattern
	for _, a := range all {
		parts := strings.Split(path.Clean(a), "/")
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return nil, toolpost.Retry("pattern %q: %q is not a valid pattern; escape [ with \\", s, part)
			}
		}
		p = append(p, parts)
	}
	return p, nil
}

// alternatives expands {a,b}, also nested, to at most limit strings.
func alternatives(s string, limit int) (all []string, ok bool) {
	open, end, commas := braces(s)
	if len(commas) == 0 {
		return []string{s}, true
	}
	start := open + 1
	for _, comma := range append(commas, end) {
		more, ok := alternatives(s[:open]+s[start:comma]+s[end+1:], limit-len(all))
		if !ok || len(all)+len(more) > limit {
			return nil, false
		}
		all = append(all, more...)
		start = comma + 1
	}
	return all, true
}

// braces finds the first group in braces that has commas of its own.
func braces(s string) (open, end int, commas []int) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				open, commas = i, nil
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 && len(commas) > 0 {
				return open, i, commas
			}
		}
	}
	return 0, 0, nil
}

// match says whether the pattern matches name, and whether it could match
// something inside name.
func (p pattern) match(name string) (full, inside bool) {
	for _, parts := range p {
		f, i := matchParts(parts, strings.Split(name, "/"))
		full, inside = full || f, inside || i
	}
	return full, inside
}

// matchParts follows all ways through the pattern at once: at[i] says that
// the names so far can end before part i.
func matchParts(parts, names []string) (full, inside bool) {
	at := make([]bool, len(parts)+1)
	at[0] = true
	skip := func() {
		for i, part := range parts {
			if at[i] && part == "**" {
				at[i+1] = true
			}
		}
	}
	skip()
	for _, name := range names {
		at[len(parts)] = false
		for i := len(parts) - 1; i >= 0; i-- {
			here := at[i]
			at[i] = here && parts[i] == "**"
			if here && parts[i] != "**" {
				if ok, _ := path.Match(parts[i], name); ok {
					at[i+1] = true
				}
			}
		}
		skip()
	}
	return at[len(parts)], slices.Contains(at[:len(parts)], true)
}
