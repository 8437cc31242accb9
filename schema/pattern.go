package schema

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/dlclark/regexp2"
)

// A pattern is a regular expression of ECMA 262. RE2 takes those it can, in
// linear time; the others go to a backtracking engine with a time limit.
type pattern struct {
	source    string
	re2       *regexp.Regexp
	backtrack *regexp2.Regexp
}

const (
	maxPattern   = 16 << 10
	matchTimeout = 50 * time.Millisecond
	maxTimeouts  = 4 // in one validation
)

// patterns are the compiled patterns of one schema.
type patterns map[string]*pattern

func (ps patterns) compile(source string) (*pattern, error) {
	if p := ps[source]; p != nil {
		return p, nil
	}
	p, err := compilePattern(source)
	if err == nil {
		ps[source] = p
	}
	return p, err
}

// ValidPattern reports whether a text is a regular expression that some engine
// of [Compile] supports.
func ValidPattern(source string) bool {
	_, err := compilePattern(source)
	return err == nil
}

func compilePattern(source string) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	p := &pattern{source: source}
	var err error
	if p.re2, err = regexp.Compile(source); err == nil {
		return p, nil
	}
	for _, options := range []regexp2.RegexOptions{regexp2.ECMAScript | regexp2.Unicode, regexp2.ECMAScript, regexp2.None} {
		if p.backtrack, err = regexp2.Compile(source, options); err == nil {
			p.backtrack.MatchTimeout = matchTimeout
			return p, nil
		}
	}
	return nil, errors.New("no engine can compile it")
}

// match reports whether the pattern matches somewhere in text. A match that
// takes too long is none, and is counted in timeouts: those of one validation.
func (p *pattern) match(text []byte, timeouts *int) bool {
	switch {
	case p.re2 != nil:
		return p.re2.Match(text)
	case *timeouts >= maxTimeouts:
		return false
	}
	ok, err := p.backtrack.MatchString(string(text))
	if err != nil {
		*timeouts++
	}
	return ok && err == nil
}

// cost is the work of matching text, compared with reading it once.
func (p *pattern) cost(text []byte) int { return 4 * (len(text) + 8) }

// String returns the expression as the schema has it.
func (p *pattern) String() string { return p.source }
