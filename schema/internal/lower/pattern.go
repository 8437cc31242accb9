package lower

import (
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/schema/internal/ecmaregexp"
)

// maxRepeat is the largest count of a pattern that "simple" takes.
const maxRepeat = 100

var repeat = lazyregexp.New(`\{(\d+)(?:,(\d*))?\}`)

// PatternFits reports whether a text is a regular expression of the kind that the
// reader supports.
func (r *Rules) PatternFits(pattern string) bool {
	if r.Pattern == "unicode" {
		return ecmaregexp.CheckUnicode(pattern) == nil
	}
	return ecmaregexp.IsValid(pattern) && supportsPattern(r.Pattern, pattern)
}

func supportsPattern(kind, pattern string) bool {
	switch escapes := escapesOf(pattern); kind {
	case "":
		return true
	case "re2":
		return !escapes.look
	case "simple":
		return escapes.plain() && smallCounts(pattern)
	case "whole":
		return isAnchored(pattern) && escapes.plain() && !escapes.unicode
	default: // anchored
		return isAnchored(pattern) && escapes.plain() && !escapes.class && smallCounts(pattern)
	}
}

// isAnchored reports whether a pattern is about the whole text: ^a|b$ is not.
func isAnchored(pattern string) bool {
	if !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") || strings.HasSuffix(pattern, `\$`) {
		return false
	}
	level, inClass := 0, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(':
			level++
		case c == ')':
			level--
		case c == '|' && level == 0:
			return false
		}
	}
	return true
}

func smallCounts(pattern string) bool {
	for _, m := range repeat.FindAllStringSubmatch(pattern, -1) {
		for _, count := range m[1:] {
			if n, err := strconv.Atoi(count); count != "" && (err != nil || n > maxRepeat) {
				return false
			}
		}
	}
	return true
}

// escapes are the parts of a regular expression that some engines lack.
type escapes struct {
	look     bool // groups that look ahead or behind, references to groups
	boundary bool // \b and \B
	class    bool // \d and the like
	unicode  bool // \p and \P
	mode     bool // groups that change the mode: (?i)
}

// plain reports whether the expression has only what grammars can express.
func (e *escapes) plain() bool { return !e.look && !e.boundary && !e.mode }

func escapesOf(pattern string) (found escapes) {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; {
		case rest[0] == '\\' && len(rest) > 1:
			found.add(rest[1], inClass)
			i++
		case inClass:
			inClass = rest[0] != ']'
		case rest[0] == '[':
			inClass = true
		case strings.HasPrefix(rest, "(?"):
			found.group(rest[2:])
		}
	}
	return found
}

// group notes what follows on "(?".
func (e *escapes) group(rest string) {
	switch {
	case rest == "":
	case rest[0] == '=' || rest[0] == '!' || strings.HasPrefix(rest, "<=") || strings.HasPrefix(rest, "<!"):
		e.look = true
	case rest[0] == '-' || rest[0] >= 'a' && rest[0] <= 'z':
		e.mode = true
	}
}

func (e *escapes) add(c byte, inClass bool) {
	switch {
	case !inClass && (c >= '1' && c <= '9' || c == 'k'):
		e.look = true
	case !inClass && (c == 'b' || c == 'B'):
		e.boundary = true
	case strings.IndexByte("dDwWsSpP", c) >= 0:
		e.class = true
		e.unicode = e.unicode || c == 'p' || c == 'P'
	}
}
