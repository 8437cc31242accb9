package grep

import "unicode/utf8"

// longLine is what is kept of a line that is longer than a block: its
// beginning, and what is around the first match.
type longLine struct {
	keep          int    // bytes of each part
	head          []byte // of the line
	before, after []byte // of where the match ends
	chars         int64  // of the line
	cut           int64  // of them in front of before
	match         bool
}

// add takes a part of the line; at is where in it a match ends, if not
// negative.
func (l *longLine) add(part []byte, at int) {
	if n := min(l.keep-len(l.head), len(part)); n > 0 {
		l.head = append(l.head, part[:n]...)
	}
	if l.match {
		l.after = append(l.after, part[:min(l.keep-len(l.after), len(part))]...)
		l.chars += int64(utf8.RuneCount(part))
		return
	}
	rest := part[len(part):]
	if at >= 0 {
		for at > 0 && at < len(part) && !utf8.RuneStart(part[at]) {
			at--
		}
		part, rest = part[:at], part[at:]
	}
	l.before = append(l.before, part[max(0, len(part)-l.keep):]...)
	l.before = append(l.before[:0], l.before[stepBack(l.before, len(l.before), l.keep/utf8.UTFMax):]...)
	l.chars += int64(utf8.RuneCount(part))
	if l.match = at >= 0; l.match {
		l.cut = l.chars - int64(utf8.RuneCount(l.before))
		l.add(rest, -1)
	}
}

// line returns the line, clipped.
func (l *longLine) line(limit int) *Line {
	text, at, cut := append(l.before, l.after...), len(l.before), l.cut
	if !l.match {
		text, at, cut = l.head, 0, 0
	}
	line := &Line{Match: l.match}
	line.Text, line.Before, _ = clip(text, at, limit)
	line.Before += cut
	line.After = l.chars - line.Before - int64(utf8.RuneCountInString(line.Text))
	return line
}

// long reads a line that fills the buffer, and goes on until its end. It is
// searched here, by the dfa alone.
func (s *stream) long(w *worker, limits *Limits) (block, error) {
	l := longLine{keep: (limits.Line + 1) * utf8.UTFMax}
	var size int64
	row := uint32(start)
	for data := w.buf; ; {
		end, over := newline(data), s.err != nil
		part, rest := data, data[len(data):]
		switch {
		case end >= 0:
			part, rest, over = data[:end], data[end+1:], true
		case !over:
			part, rest = data[:whole(data)], data[whole(data):]
		}
		size += int64(len(data) - len(rest))
		at := -1
		if row >= start {
			row, at = w.part(row, part, over)
		}
		if over {
			part = trim(part)
		}
		l.add(part, min(at, len(part)))
		s.carry = append(s.carry[:0], rest...)
		if over {
			return block{long: l.line(limits.Line), size: size}, s.fault()
		}
		data = w.buf[:s.fill(w, w.buf)]
		if w.isStopped() {
			return block{}, nil
		}
	}
}

// part runs the dfa through a part of a line. It returns the row there and,
// where the line matches, the place.
func (w *worker) part(row uint32, part []byte, over bool) (uint32, int) {
	at := 0
	for at < len(part) && row >= start && !w.isStopped() {
		var n int
		row, n = w.dfa.run(row, part[at:min(at+step, len(part))])
		at += n
	}
	if over && row >= start {
		row, _ = w.dfa.run(row, []byte{'\n'})
	}
	if row != hit && row != hitEnd {
		at = -1
	}
	return row, at
}
