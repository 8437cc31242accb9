package lower

import (
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/subschema"
)

// maxRepeat is the largest count of a pattern that "simple" takes.
const maxRepeat = 100

var repeat = lazyregexp.New(`\{(\d+)(?:,(\d*))?\}`)

// PatternFits reports whether a text is a regular expression of the kind that a
// reader supports; see [Rules].
func PatternFits(kind, pattern string) bool {
	if kind == "unicode" {
		return subschema.CheckUnicodePattern(pattern) == nil
	}
	return subschema.IsPattern(pattern) && patternTaken(kind, pattern)
}

func patternTaken(kind, pattern string) bool {
	switch escapes := escapesOf(pattern); kind {
	case "":
		return true
	case "re2":
		return !escapes.look
	case "simple":
		return !escapes.look && !escapes.boundary && smallCounts(pattern)
	default: // anchored
		whole := strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") && !strings.HasSuffix(pattern, `\$`)
		return whole && !escapes.look && !escapes.boundary && !escapes.class && smallCounts(pattern)
	}
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
}

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
		case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!") ||
			strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!"):
			found.look = true
		}
	}
	return found
}

func (e *escapes) add(c byte, inClass bool) {
	switch {
	case !inClass && (c >= '1' && c <= '9' || c == 'k'):
		e.look = true
	case !inClass && (c == 'b' || c == 'B'):
		e.boundary = true
	case strings.IndexByte("dDwWsSpP", c) >= 0:
		e.class = true
	}
}
