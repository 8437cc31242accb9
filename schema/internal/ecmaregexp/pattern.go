// Package ecmaregexp compiles and checks regular expressions of JSON Schema, which are those of
// ECMA 262.
package ecmaregexp

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/dlclark/regexp2"
)

// A Pattern is a regular expression of ECMA 262. RE2 takes those it can, in
// linear time; the others go to a backtracking engine with a time limit.
type Pattern struct {
	source    string
	re2       *regexp.Regexp
	backtrack *regexp2.Regexp
}

const (
	maxPattern   = 16 << 10
	matchTimeout = 50 * time.Millisecond
	maxTimeouts  = 4 // in one validation
)

// Patterns are the compiled patterns of one schema.
type Patterns map[string]*Pattern

// Compile returns the pattern in source.
func (ps Patterns) Compile(source string) (*Pattern, error) {
	if p := ps[source]; p != nil {
		return p, nil
	}
	p, err := Compile(source)
	if err == nil {
		ps[source] = p
	}
	return p, err
}

// Compile compiles a regular expression with the first engine that
// supports it.
func Compile(source string) (*Pattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	p := &Pattern{source: source}
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

// Match reports whether the pattern matches somewhere in text. A match that
// takes too long is none, and is counted in timeouts: those of one validation.
func (p *Pattern) Match(text []byte, timeouts *int) bool {
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

// Cost is the work of matching text, compared with reading it once.
func (p *Pattern) Cost(text []byte) int { return 4 * (len(text) + 8) }

// String returns the expression as the schema has it.
func (p *Pattern) String() string { return p.source }

// IsValid reports whether some engine supports a regular expression.
func IsValid(source string) bool {
	_, err := Compile(source)
	return err == nil
}
