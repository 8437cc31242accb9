// Package grep finds lines that match a regular expression (RE2 syntax, as of
// package regexp) or a text, in bytes, files and streams, at memory speed.
//
//	Compile ─▶ Pattern ─▶ plan: literal │ required literal + check │ lazy DFA │ regexp
//	                         │
//	          chunks of whole lines, over the cores ─▶ Result: lines, contexts, totals
package grep

import (
	"context"
	"errors"
	"io"
)

// Options say what is searched for; nil means defaults.
type Options struct {
	Literal    bool // the pattern is a text, not an expression
	IgnoreCase bool
	Word       bool // matches begin and end at a word boundary
}

// A Pattern is a compiled expression. It is safe for concurrent use.
type Pattern struct{}

// Compile parses a pattern. Its error names the fault and says how to search
// for the pattern as a text.
func Compile(pattern string, opts *Options) (*Pattern, error) { return nil, errors.ErrUnsupported }

// Match says that a line, without its end, has a match.
func (p *Pattern) Match(line []byte) bool { return false }

// Limits say how much of the matches is returned; nil means defaults. The
// search always ends with its context, with what was found until then.
type Limits struct {
	Matches       int  // lines that match; 100 if 0, -1 for none: they are counted only
	Before, After int  // further lines around each
	Line          int  // characters of a line, clipped around the match; 500 if 0
	Bytes         int  // of all text returned; 64 KiB if 0
	First         bool // stop at the first match: the total is then 0 or 1
}

// A Line is one line of a result.
type Line struct {
	Number        int64 // from 1
	Offset        int64 // of its first byte
	Text          string
	Match         bool  // else it is context
	Before, After int64 // characters left out by clipping
}

// A Result is what a search found.
type Result struct {
	Lines   []Line // in order; each once, where contexts meet
	Matches int64  // lines that match, also those that are not in Lines
	Read    int64  // bytes searched
	Cut     string // why Lines or Matches are not complete; empty if they are
}

// Bytes searches data.
func (p *Pattern) Bytes(ctx context.Context, data []byte, l *Limits) (*Result, error) {
	return nil, errors.ErrUnsupported
}

// File searches size bytes of r, in chunks over the cores.
func (p *Pattern) File(ctx context.Context, r io.ReaderAt, size int64, l *Limits) (*Result, error) {
	return nil, errors.ErrUnsupported
}

// Reader searches a stream.
func (p *Pattern) Reader(ctx context.Context, r io.Reader, l *Limits) (*Result, error) {
	return nil, errors.ErrUnsupported
}
