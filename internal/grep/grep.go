// Package grep finds lines that match a regular expression (RE2 syntax, as of
// package regexp) or a text, in bytes, files and streams, at memory speed.
//
//	Compile ─▶ Pattern ─▶ plan: literal │ required literal + check │ lazy DFA
//	                         │
//	          blocks of whole lines, over the cores ─▶ Result: lines, contexts, totals
//
// A line is what stands between two '\n', without one '\r' at its end; after
// the last '\n' there is a line only if there are bytes. Each line is searched
// as a text of its own: ^ and $ are its ends, and no match goes over two lines.
// Bytes that are not UTF-8 count as U+FFFD each, as in package regexp.
package grep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp/syntax"
	"slices"
	"sync"
)

// maxProgram is the number of instructions of a pattern: a step can take time
// in proportion to it.
const maxProgram = 10_000

// Options say what is searched for; nil means defaults.
type Options struct {
	Literal    bool // the pattern is a text, not an expression
	IgnoreCase bool
	Word       bool // matches begin and end at a word boundary
}

// A Pattern is a compiled expression. It is safe for concurrent use.
type Pattern struct {
	prog     *syntax.Prog
	literals []literal // each match contains them all
	exact    bool      // and a line with the only one of them matches
	workers  sync.Pool
}

// Compile parses a pattern. Its error names the fault and says how to search
// for the pattern as a text.
func Compile(pattern string, opts *Options) (*Pattern, error) {
	if opts == nil {
		opts = &Options{}
	}
	re, err := parse(pattern, opts)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", quote(pattern), err)
	}
	if opts.Word {
		edge := &syntax.Regexp{Op: syntax.OpWordBoundary}
		re = &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{edge, re, edge}}
	}
	p := &Pattern{}
	p.literals, p.exact = literals(re)
	if p.prog, err = syntax.Compile(re.Simplify()); err == nil && len(p.prog.Inst) > maxProgram {
		err = errors.New("it is too large: repeat fewer times")
	}
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", quote(pattern), err)
	}
	p.workers.New = func() any { return newWorker(p) }
	return p, nil
}

func parse(pattern string, opts *Options) (*syntax.Regexp, error) {
	flags := syntax.Perl
	if opts.Literal {
		flags = syntax.Literal
	}
	if opts.IgnoreCase {
		flags |= syntax.FoldCase
	}
	re, err := syntax.Parse(pattern, flags)
	var fault *syntax.Error
	switch {
	case errors.As(err, &fault) && fault.Code == syntax.ErrInvalidUTF8:
		return nil, errors.New("it is not UTF-8")
	case errors.As(err, &fault):
		return nil, fmt.Errorf("%v: %s; mend the expression (RE2 syntax), or search for a literal text instead", fault.Code, quote(fault.Expr))
	case err != nil:
		return nil, err
	case breaksLine(re):
		return nil, errors.New("it has a line break, but lines are searched one by one: search for a part that is on one line")
	}
	return re, nil
}

func breaksLine(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') || slices.ContainsFunc(re.Sub, breaksLine)
}

func quote(s string) string {
	text, _, after := clip([]byte(s), 0, 100)
	if after > 0 {
		return fmt.Sprintf("%q…", text)
	}
	return fmt.Sprintf("%q", text)
}

// Match reports whether a line, without its end, has a match.
func (p *Pattern) Match(line []byte) bool {
	w := p.workers.Get().(*worker)
	defer p.workers.Put(w)
	return w.dfa.find(line) >= 0
}

// Limits say how much of the matches is returned; nil means defaults.
type Limits struct {
	Matches       int  // lines that match; 100 if 0, -1 for none: they are counted only
	Before, After int  // further lines around each; they end at a line that matches but is over a limit
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
	Cut     string // which limit made Lines or Matches incomplete; empty if none did
}

// Bytes searches data. When the deadline of ctx passes, the result has what
// was found until then and Cut says so. When ctx is cancelled, there is also
// an error.
func (p *Pattern) Bytes(ctx context.Context, data []byte, l *Limits) (*Result, error) {
	return p.search(ctx, &memory{data: data}, int64(len(data)), l)
}

// File searches size bytes of r, in blocks over the cores, in bounded memory.
// Its end is that of Bytes; an error of r comes with what was found before it.
func (p *Pattern) File(ctx context.Context, r io.ReaderAt, size int64, l *Limits) (*Result, error) {
	size = max(size, 0)
	return p.search(ctx, &file{r: r, size: size}, size, l)
}

// Reader searches a stream, in bounded memory, as File does. A Read that
// blocks is not interrupted by ctx: r has to end itself.
func (p *Pattern) Reader(ctx context.Context, r io.Reader, l *Limits) (*Result, error) {
	return p.search(ctx, &stream{r: r}, 1<<62, l)
}
