package grep

import (
	"bytes"
	"fmt"
	"slices"
)

// A collector makes the result of blocks that come in order.
type collector struct {
	limits *Limits
	result Result
	number int64  // of the next line
	offset int64  // of it
	recent []Line // at most limits.Before lines in front of it that are not in the result
	after  int    // lines from it on that are in the result as context
	shown  int    // lines that match
	room   int    // bytes
	narrow bool   // there was not enough room
	done   bool   // no more lines are wanted
}

// block adds what w found in b.
func (c *collector) block(b *block, w *worker) {
	first := c.limits.First
	if first && c.done && c.result.Matches > 0 {
		return
	}
	count := int64(w.count)
	if b.long != nil {
		count = int64(flag(b.long.Match))
	}
	c.result.Read += b.size
	c.result.Matches += count
	if first {
		c.result.Matches = min(c.result.Matches, 1)
	}
	switch {
	case c.done:
	case b.long != nil:
		c.add(*b.long, b.size)
	default:
		c.lines(b.data, w.hits, w.lines)
	}
}

// lines adds data, of so many lines; hits has the offsets where a line is known to match.
func (c *collector) lines(data []byte, hits []int, lines int) {
	if len(hits) == 0 {
		c.pass(data, lines)
		return
	}
	pos := 0
	for _, at := range hits {
		from, to := lineStart(data, at), lineEnd(data, at)
		c.pass(data[pos:from], lineFeeds(data[pos:from]))
		if c.done {
			return
		}
		pos = min(to+1, len(data))
		if c.add(c.line(data[from:to], at-from, true), int64(pos-from)); c.done {
			return
		}
	}
	c.pass(data[pos:], lineFeeds(data[pos:]))
}

// pass adds data, of so many line feeds, where no line matches.
func (c *collector) pass(data []byte, feeds int) {
	for c.after > 0 && len(data) > 0 && !c.done {
		n := lineEnd(data, 0)
		size := min(n+1, len(data))
		c.add(c.line(data[:n], 0, false), int64(size))
		data, feeds = data[size:], feeds-1
	}
	if c.done || len(data) == 0 {
		return
	}
	if data[len(data)-1] != '\n' {
		feeds++
	}
	from, number, size := len(data), c.number+int64(feeds), 0
	var last []Line // newest first
	for from > 0 && len(last) < c.limits.Before && size <= c.room {
		to := from
		from = lineStart(data, to-1)
		l := c.line(bytes.TrimSuffix(data[from:to], []byte{'\n'}), 0, false)
		number--
		l.Number, l.Offset = number, c.offset+int64(from)
		last, size = append(last, l), size+len(l.Text)
	}
	if from > 0 {
		c.recent = c.recent[:0]
	}
	slices.Reverse(last)
	c.remember(last...)
	c.number, c.offset = c.number+int64(feeds), c.offset+int64(len(data))
}

func (c *collector) remember(lines ...Line) {
	c.recent = append(c.recent, lines...)
	c.recent = slices.Delete(c.recent, 0, max(0, len(c.recent)-c.limits.Before))
}

// add adds one line, of size bytes with its end.
func (c *collector) add(l Line, size int64) {
	l.Number, l.Offset = c.number, c.offset
	c.number, c.offset = c.number+1, c.offset+size
	switch {
	case l.Match:
		c.match(l)
	case c.after == 0:
		c.remember(l)
	case c.fits(l):
		c.result.Lines = append(c.result.Lines, l)
		c.after--
		c.done = c.after == 0 && c.shown == c.limits.Matches
	}
}

func (c *collector) match(l Line) {
	if c.shown == c.limits.Matches {
		c.done = true
		return
	}
	if !c.fits(l) {
		return
	}
	i := len(c.recent)
	for i > 0 && len(c.recent[i-1].Text) <= c.room {
		i--
		c.room -= len(c.recent[i].Text)
	}
	c.narrow = c.narrow || i > 0
	c.result.Lines = append(append(c.result.Lines, c.recent[i:]...), l)
	c.recent, c.after = c.recent[:0], c.limits.After
	c.shown++
	c.done = c.after == 0 && c.shown == c.limits.Matches
}

// fits takes room for l; there are no more lines where there is not enough.
func (c *collector) fits(l Line) bool {
	if len(l.Text) > c.room {
		c.narrow, c.done = true, true
		return false
	}
	c.room -= len(l.Text)
	return true
}

func (c *collector) cutNotice() string {
	all := c.result.Matches
	switch {
	case c.narrow:
		return fmt.Sprintf("the lines are cut at %d bytes of text, and have %d of %d matches", c.limits.Bytes, c.shown, all)
	case c.limits.Matches > 0 && int64(c.shown) < all:
		return fmt.Sprintf("the lines have %d of %d matches", c.shown, all)
	}
	return ""
}

func (c *collector) line(text []byte, at int, match bool) Line {
	l := Line{Match: match}
	text = trim(text)
	l.Text, l.Before, l.After = clip(text, min(at, len(text)), c.limits.Line)
	return l
}
