package stdtool

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A pattern is a glob: the alternatives that its braces stand for.
type pattern []alternative

// An alternative is one way to match a path.
type alternative struct {
	parts  []part
	folder bool // it ends with a slash: only directories match
}

// A part matches one name of a path. A part ** matches any number of names.
type part struct {
	any     bool           // **
	literal bool           // the name is suffix
	suffix  string         // what the name ends with, if there is no compiled expression
	class   *regexp.Regexp // everything else
}

const (
	maxPattern      = 1000 // bytes of a pattern
	maxAlternatives = 256
)

func parsePattern(s string) (pattern, error) {
	if len(s) > maxPattern {
		return nil, toolpost.Retry("the pattern has %d bytes, and the limit is %d: give a shorter one", len(s), maxPattern)
	}
	all, ok := expandBraces(s, maxAlternatives)
	if !ok {
		return nil, toolpost.Retry("pattern %q has more than %d alternatives in braces: use several simpler patterns", s, maxAlternatives)
	}
	var p pattern
	known := map[string]part{} // alternatives share most of their parts
	for _, text := range all {
		if path.IsAbs(text) || slices.Contains(strings.Split(text, "/"), "..") {
			return nil, toolpost.Retry("pattern %q leads out of the served folder: give one relative to path, such as **/*.go", s)
		}
		a := alternative{folder: strings.HasSuffix(text, "/")}
		for name := range strings.SplitSeq(path.Clean(text), "/") {
			parsed, ok := known[name]
			if !ok {
				if parsed, ok = parsePart(name); !ok {
					return nil, toolpost.Retry("pattern %q: %q is not a valid pattern; escape [ with \\", s, name)
				}
				known[name] = parsed
			}
			a.parts = append(a.parts, parsed)
		}
		p = append(p, a)
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

// parsePart reads a pattern for one name: *, ?, sets such as [!a-z[:digit:]],
// and \ before a character that stands for itself.
func parsePart(s string) (part, bool) {
	switch {
	case s == "**":
		return part{any: true}, true
	case !strings.ContainsAny(s, `*?[\`):
		return part{literal: true, suffix: s}, true
	case s[0] == '*' && !strings.ContainsAny(s[1:], `*?[\`):
		return part{suffix: s[1:]}, true
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for s != "" {
		switch c := s[0]; c {
		case '*':
			b.WriteString(".*")
			s = strings.TrimLeft(s, "*")
			continue
		case '?':
			b.WriteByte('.')
		case '[':
			set, size := setExpression(s)
			if size == 0 {
				return part{}, false
			}
			b.WriteString(set)
			s = s[size:]
			continue
		default:
			if c == '\\' {
				if s = s[1:]; s == "" {
					return part{}, false
				}
			}
			b.WriteString(regexp.QuoteMeta(s[:1]))
		}
		s = s[1:]
	}
	b.WriteString(`\z`)
	expression, err := regexp.Compile(b.String())
	return part{class: expression}, err == nil
}

// setExpression translates the set that s begins with, and returns its size in
// s, 0 if the set does not end. A ] that comes first belongs to the set.
func setExpression(s string) (expression string, size int) {
	var b strings.Builder
	b.WriteByte('[')
	at := 1
	if at < len(s) && (s[at] == '!' || s[at] == '^') {
		b.WriteByte('^')
		at++
	}
	for first := at; at < len(s); {
		if s[at] == ']' && at > first {
			return b.String() + "]", at + 1
		}
		if s[at] == '-' && at > first && at+1 < len(s) && s[at+1] != ']' {
			b.WriteByte('-') // of a range
			at++
			continue
		}
		element, n := setElement(s[at:])
		if n == 0 {
			break
		}
		b.WriteString(element)
		at += n
	}
	return "", 0
}

// setElement translates the character or class that s begins with.
func setElement(s string) (expression string, size int) {
	switch {
	case strings.HasPrefix(s, "[:"):
		if n := strings.Index(s, ":]"); n > 0 {
			return s[:n+2], n + 2
		}
		return "", 0
	case s[0] != '\\':
		return quoteInSet(s[0]), 1
	case len(s) == 1:
		return "", 0
	}
	return quoteInSet(s[1]), 2
}

func quoteInSet(c byte) string {
	if strings.IndexByte(`\]^-[&~|`, c) >= 0 {
		return `\` + string(rune(c))
	}
	return string([]byte{c})
}

func (p part) match(name string) bool {
	switch {
	case p.any:
		return true
	case p.literal:
		return name == p.suffix
	case p.class != nil:
		return p.class.MatchString(name)
	}
	return strings.HasSuffix(name, p.suffix)
}

// match reports whether the pattern matches name, and whether it could match
// something inside name.
func (p pattern) match(name string, folder bool) (full, inside bool) {
	names := strings.Split(name, "/")
	for _, a := range p {
		f, i := matchParts(a.parts, names)
		full, inside = full || f && (folder || !a.folder), inside || i
	}
	return full, inside
}

// matchParts follows all ways through the pattern at once: at[i] is set if the
// names so far can end before part i.
func matchParts(parts []part, names []string) (full, inside bool) {
	at := make([]bool, len(parts)+1)
	at[0] = true
	skip := func() {
		for i, part := range parts {
			if at[i] && part.any {
				at[i+1] = true
			}
		}
	}
	skip()
	for _, name := range names {
		at[len(parts)] = false
		for i := len(parts) - 1; i >= 0; i-- {
			here := at[i]
			at[i] = here && parts[i].any
			if here && !parts[i].any && parts[i].match(name) {
				at[i+1] = true
			}
		}
		skip()
	}
	return at[len(parts)], slices.Contains(at[:len(parts)], true)
}
