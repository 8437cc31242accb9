// Package lazyregexp has regular expressions that are compiled when they are first
// used. A program with many patterns in its packages starts sooner with them: a
// command uses few of its patterns, and to compile one takes tens of microseconds.
package lazyregexp

import (
	"regexp"
	"sync"
)

// A Regexp is a [regexp.Regexp] that its first use compiles. Its methods are those of
// [regexp.Regexp], and may be called from several goroutines.
type Regexp struct {
	pattern string
	regexp  func() *regexp.Regexp
}

// New returns an expression for a pattern that is fixed in the source code. Every use
// panics if the pattern is not valid, so the tests of this package compile the pattern
// of each call in the repository.
func New(pattern string) *Regexp {
	return &Regexp{pattern, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// String returns the pattern.
func (r *Regexp) String() string { return r.pattern }

// FindAllString is [regexp.Regexp.FindAllString].
func (r *Regexp) FindAllString(s string, n int) []string {
	return r.regexp().FindAllString(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.regexp().FindAllStringSubmatch(s, n)
}

// FindString is [regexp.Regexp.FindString].
func (r *Regexp) FindString(s string) string {
	return r.regexp().FindString(s)
}

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string {
	return r.regexp().FindStringSubmatch(s)
}

// Match is [regexp.Regexp.Match].
func (r *Regexp) Match(b []byte) bool {
	return r.regexp().Match(b)
}

// MatchString is [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool {
	return r.regexp().MatchString(s)
}

// ReplaceAllFunc is [regexp.Regexp.ReplaceAllFunc].
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.regexp().ReplaceAllFunc(src, repl)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.regexp().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.regexp().ReplaceAllStringFunc(src, repl)
}
