package dialect

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A clientPattern is a regular expression that has to match all of a text, in any case. Most
// are a name, with ".*" after it or without: these are compared and never compiled,
// because to compile those of all clients takes longer than the rest of a first list.
type clientPattern struct {
	name string // what the text begins with
	more bool   // something may follow
	re   *regexp.Regexp
}

// newClientPattern returns nil for an empty text, which asks for nothing.
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
