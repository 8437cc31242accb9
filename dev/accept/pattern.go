package accept

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	unicodeEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)
	leadingAhead  = regexp.MustCompile(`^\^\(\?[=!]`)
)

// compilePattern takes patterns that RE2 knows, and lookaheads at their
// beginning. Others are left unchecked.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	p := &ahead{source: pattern}
	rest := unicodeEscape.ReplaceAllString(pattern, `\x{$1}`)
	for leadingAhead.MatchString(rest) {
		inner, after := group(rest[4:])
		re, err := regexp.Compile("^(?:" + inner + ")")
		if err != nil {
			return unchecked(pattern), nil
		}
		if rest[3] == '=' {
			p.must = append(p.must, re)
		} else {
			p.mustNot = append(p.mustNot, re)
		}
		rest = "^" + after
	}
	re, err := regexp.Compile(rest)
	if err != nil {
		return unchecked(pattern), nil
	}
	p.rest = re
	return p, nil
}

// group splits at the parenthesis that closes the group whose inside s begins with.
func group(s string) (inner, after string) {
	open, class := 1, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			open++
		case c == ')':
			if open--; open == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ")" // never closed: does not compile
}

// An ahead is a pattern that may begin with lookaheads.
type ahead struct {
	source        string
	must, mustNot []*regexp.Regexp
	rest          *regexp.Regexp
}

// MatchString reports whether the pattern is found in s.
func (p *ahead) MatchString(s string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(s) }
	return p.rest.MatchString(s) && !slices.ContainsFunc(p.mustNot, matches) &&
		!slices.ContainsFunc(p.must, func(re *regexp.Regexp) bool { return !matches(re) })
}

// String returns the pattern.
func (p *ahead) String() string { return p.source }

// unchecked is a pattern that matches everything.
type unchecked string

// MatchString is always true.
func (unchecked) MatchString(string) bool { return true }

// String returns the pattern.
func (u unchecked) String() string { return string(u) }

// matching writes a text that matches, or reports that it cannot.
func (p *ahead) matching(rng *rand.Rand) (string, bool) {
	tree, err := syntax.Parse(p.rest.String(), syntax.Perl)
	if err != nil {
		return "", false
	}
	for range 20 {
		w := writer{rng: rng}
		w.write(tree)
		if s := w.text.String(); !w.never && p.MatchString(s) {
			return s, true
		}
	}
	return "", false
}

// A writer writes what a pattern describes.
type writer struct {
	rng   *rand.Rand
	text  strings.Builder
	never bool
}

func (w *writer) write(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		w.never = true
	case syntax.OpLiteral:
		w.text.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.text.WriteByte("abcxyzABC0189 -_.é"[w.rng.IntN(16)])
	case syntax.OpStar:
		w.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		w.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		w.repeat(re.Sub[0], re.Min, re.Max)
	case syntax.OpAlternate:
		w.write(re.Sub[w.rng.IntN(len(re.Sub))])
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	}
}

func (w *writer) repeat(re *syntax.Regexp, least, most int) {
	n := least + w.rng.IntN(4)
	if most >= 0 {
		n = min(n, most)
	}
	for range n {
		if w.text.Len() > 10_000 {
			w.never = true
			return
		}
		w.write(re)
	}
}

// class writes one of the characters of the ranges, a usual one if there is.
func (w *writer) class(ranges []rune) {
	if len(ranges) == 0 {
		w.never = true
		return
	}
	for range 8 {
		i := 2 * w.rng.IntN(len(ranges)/2)
		low, high := ranges[i], ranges[i+1]
		if low <= unicode.MaxASCII {
			low, high = max(low, ' '), min(high, '~')
		}
		if low <= high && !(low >= 0xd800 && low <= 0xdfff) {
			w.text.WriteRune(low + w.rng.Int32N(min(high-low, 200)+1))
			return
		}
	}
	w.text.WriteRune(ranges[0])
}
