package dialect

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A clientPattern is a regular expression that must match the whole name or user agent of a
// client, in any case. Most patterns are a name, with ".*" after it or without. These are
// compared, not compiled: compiling the patterns of all clients delays the first list by most
// of a millisecond.
type clientPattern struct {
	name string         // what a matching text begins with, if re is nil
	more bool           // text may follow the name
	re   *regexp.Regexp // nil if the pattern is a name
}

// newClientPattern returns the pattern, or nil if text is empty: then every client matches.
func newClientPattern(text string) (*clientPattern, error) {
	if text == "" {
		return nil, nil
	}
	if name, more := strings.CutSuffix(text, ".*"); regexp.QuoteMeta(name) == name && utf8.ValidString(name) {
		return &clientPattern{name: name, more: more}, nil
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil { // such as a)(b
		return nil, err
	}
	re, err := regexp.Compile("(?is)^(?:" + text + ")$")
	return &clientPattern{re: re}, err
}

// matches reports whether the pattern matches the whole text.
func (p *clientPattern) matches(text string) bool {
	if p.re != nil {
		return p.re.MatchString(text)
	}
	for _, want := range p.name {
		got, size := utf8.DecodeRuneInString(text)
		if size == 0 || got != want && !strings.EqualFold(string(got), string(want)) {
			return false
		}
		text = text[size:]
	}
	return p.more || text == ""
}
