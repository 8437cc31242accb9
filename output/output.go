// Package output keeps large results of tools out of a model's context: it stores the
// whole, shows its beginning and its end, and has two tools that read the rest by page or
// by search.
//
//	result ─ Layer ─▶ small: as it is
//	                └▶ large: Store ◀── tool_output_cache, tool_output_cache_grep
//	                          view: head, what is missing and the next call, tail
package output

import (
	"bytes"
	"cmp"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/store"
)

// Options are the limits of a view; nil means defaults, which are below the
// limits of real clients.
type Options struct {
	Lines  int          // 2,000 if 0, at least 10
	Chars  int          // 48,000 if 0, at least 1,000; a tool's Policy.MaxOutput overrides both
	Errors int          // characters of an error; 10,000 if 0, at least 1,000
	Logger *slog.Logger // slog.Default() if nil
}

// A Cache stores output for the sessions that it belongs to. It is safe for
// concurrent use.
type Cache struct {
	store   store.Store
	opts    Options
	ends    endsPool
	buffers longjson.Buffers
	page    *toolpost.Tool
	find    *toolpost.Tool
}

// New returns a cache that stores output in s.
func New(s store.Store, opts *Options) *Cache {
	c := &Cache{store: s}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.Lines = max(hidden.MinLines, cmp.Or(c.opts.Lines, 2000))
	c.opts.Chars = max(hidden.MinChars, cmp.Or(c.opts.Chars, 48_000))
	c.opts.Errors = max(hidden.MinChars, cmp.Or(c.opts.Errors, 10_000))
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.Default())
	c.page, c.find = c.pageTool(), c.findTool()
	return c
}

// Tools returns tool_output_cache and tool_output_cache_grep.
func (c *Cache) Tools() toolpost.Tools { return toolpost.Tools{c.page, c.find} }

// A limit is how much of an output is shown.
type limit struct{ chars, lines int }

func (l limit) holds(chars, lines int64) bool {
	return chars <= int64(l.chars) && lines <= int64(l.lines)
}

// surely reports whether raw, a result which is not decoded for that, is within
// the limit: a line break in it has at least two characters, and a part a type.
func (l limit) surely(raw []byte) bool {
	return len(raw) <= l.chars && (len(raw) < 2*l.lines ||
		bytes.Count(raw, []byte(`\n`))+bytes.Count(raw, []byte(`\u000`))+bytes.Count(raw, []byte(`"type"`)) < l.lines)
}

// limit returns that of a result of t.
func (c *Cache) limit(t *toolpost.Tool, failed bool) limit {
	l := limit{c.opts.Chars, c.opts.Lines}
	if n := t.Policy.MaxOutput; n > 0 {
		l.chars = max(hidden.MinChars, n)
		l.lines = l.chars
	}
	if failed {
		l.chars = min(l.chars, c.opts.Errors)
	}
	return l
}

// A pair are the names of the reading tools, as the model knows them.
type pair struct{ page, find string }

const (
	pageName = "tool_output_cache"
	findName = "tool_output_cache_grep"
)
