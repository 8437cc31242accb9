package store

import (
	"bytes"
	"fmt"
	"io"
	"sort"
)

// chunk is the number of bytes after which the next line gets an entry.
const chunk = 256 << 10

// An index finds lines. It has an entry for the first line that begins a chunk
// or more after the one before, so that at most a chunk is searched for a line,
// however long the lines are.
type index struct {
	size    int64
	lines   int64  // ends of lines
	open    bool   // the last line has no end
	sum     uint32 // checksum of the bytes, up to syncedFrom
	entries []entry
}

// An entry says at which offset a line begins.
type entry struct{ line, offset int64 }

// add counts the lines of the bytes that follow.
func (x *index) add(p []byte) {
	if x.size < syncedFrom {
		x.sum = checksum(x.sum, p)
	}
	for len(p) > 0 {
		begin := int64(0)
		if n := len(x.entries); n > 0 {
			begin = x.entries[n-1].offset
		}
		// The end of a line counts for an entry when a chunk lies before what
		// follows it.
		n := min(int64(len(p)), max(0, begin+chunk-1-x.size))
		part := p[:n]
		if n == 0 {
			end := bytes.IndexByte(p, '\n') + 1
			if end == 0 {
				end = len(p)
			}
			part = p[:end]
		}
		x.size += int64(len(part))
		x.lines += int64(bytes.Count(part, []byte("\n")))
		x.open = part[len(part)-1] != '\n'
		if n == 0 && !x.open {
			x.entries = append(x.entries, entry{x.lines, x.size})
		}
		p = p[len(part):]
	}
}

// total is the number of lines.
func (x *index) total() int64 {
	if x.open {
		return x.lines + 1
	}
	return x.lines
}

// find returns the offset at which a line of r begins.
func (x *index) find(r io.ReaderAt, line int64) (int64, error) {
	if line < 0 || line > x.total() {
		return 0, fmt.Errorf("line %d is not there: lines count from 0, and there are %d", line, x.total())
	}
	if line == x.total() {
		return x.size, nil
	}
	var at entry
	if i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].line > line }); i > 0 {
		at = x.entries[i-1]
	}
	for buffer := make([]byte, 32<<10); at.line < line; {
		n, err := r.ReadAt(buffer, at.offset)
		if n == 0 {
			return 0, fmt.Errorf("search line %d: %w", line, err)
		}
		p := buffer[:n]
		if ends := int64(bytes.Count(p, []byte("\n"))); at.line+ends < line {
			at = entry{at.line + ends, at.offset + int64(n)}
			continue
		}
		for ; at.line < line; at.line++ {
			n := bytes.IndexByte(p, '\n') + 1
			at.offset, p = at.offset+int64(n), p[n:]
		}
	}
	return at.offset, nil
}
