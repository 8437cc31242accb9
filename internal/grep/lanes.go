package grep

// Sizes of the parts in which a dfa goes through a block.
const (
	smallest = 1 << 10  // that a lane takes; it takes more while there is much left
	stride   = 16 << 10 // of lanes, between looks at whether the search has been stopped
	step     = 1 << 10  // the same of one lane, which may run without the table
)

// Lanes are four places of a block where the dfa runs at the same time: each
// step waits for the one before it, and four that do not depend on each other
// take hardly longer than one.
type lanes struct {
	*worker
	data  []byte
	taken int
	pos   [4]int
	end   [4]int
	row   [4]uint32
}

// scan searches data from byte from on, where a line begins. It returns false
// if the search was stopped.
func (w *worker) scan(data []byte, from int) bool {
	l := &lanes{worker: w, data: data, taken: from}
	n := 0
	for n < len(l.pos) && l.take(n) {
		n++
	}
	for n == len(l.pos) && !w.dfa.loose {
		if w.isStopped() {
			return false
		}
		l.advance()
		for i := range l.pos {
			if l.pos[i] >= l.end[i] && !l.finish(i) {
				n--
			}
		}
	}
	for i := range l.pos {
		// Rows may be of an earlier table: go back to where the line begins.
		pos := lineStart(data, min(l.pos[i], l.end[i]))
		if l.pos[i] < l.end[i] && !w.single(data, pos, l.end[i]) {
			return false
		}
	}
	return w.single(data, l.taken, len(data))
}

// take gives lane i more lines. The parts get smaller, so that all lanes end at
// about the same time.
func (l *lanes) take(i int) bool {
	from, left := l.taken, len(l.data)-l.taken
	if left < smallest {
		return false
	}
	to := lineEnd(l.data, from+max(left/(2*len(l.pos)), smallest)-1)
	to = min(to+1, len(l.data))
	l.pos[i], l.end[i], l.row[i], l.taken = from, to, start, to
	return true
}

// finish ends what a lane has taken, and reports whether the lane has another one.
func (l *lanes) finish(i int) bool {
	if l.pos[i] == l.end[i] && l.data[l.end[i]-1] != '\n' {
		l.decide(i, l.next(i, '\n'))
	}
	return l.take(i)
}

// advance moves the lanes until one has to be looked at.
func (l *lanes) advance() {
	p, n := &l.pos, stride
	for i := range p {
		n = min(n, l.end[i]-p[i])
	}
	d := l.data
	k := run4(l.dfa.table, d[p[0]:p[0]+n], d[p[1]:p[1]+n], d[p[2]:p[2]+n], d[p[3]:p[3]+n], &l.row)
	l.dfa.fed += len(p) * k
	for i := range p {
		p[i] += k
		if k < n {
			l.decide(i, l.next(i, d[p[i]]))
		}
	}
}

func (l *lanes) next(i int, b byte) uint32 {
	if to := l.dfa.table[l.row[i]|uint32(b)]; to != unknown {
		return to
	}
	return l.dfa.build(l.row[:], i, b)
}

func (l *lanes) decide(i int, to uint32) {
	l.row[i] = max(to, start)
	if to == hit || to == hitEnd {
		l.addHit(l.pos[i])
	}
	if to == hit || to == dead {
		l.pos[i] = lineEnd(l.data[:l.end[i]], l.pos[i])
	}
	l.pos[i]++
}

// run4 steps through four texts of one length, until a step leads to no row.
func run4(t []uint32, a, b, c, d []byte, row *[4]uint32) int {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	r0, r1, r2, r3 := row[0], row[1], row[2], row[3]
	i := 0
	for ; i < len(a); i++ {
		n0, n1 := t[r0|uint32(a[i])], t[r1|uint32(b[i])]
		n2, n3 := t[r2|uint32(c[i])], t[r3|uint32(d[i])]
		if n0 < start || n1 < start || n2 < start || n3 < start {
			break
		}
		r0, r1, r2, r3 = n0, n1, n2, n3
	}
	row[0], row[1], row[2], row[3] = r0, r1, r2, r3
	return i
}

// single searches data[pos:end], whole lines, in one lane.
func (w *worker) single(data []byte, pos, end int) bool {
	row := uint32(start)
	for pos < end {
		if w.isStopped() {
			return false
		}
		to, n := w.dfa.run(row, data[pos:min(pos+step, end)])
		pos += n
		if pos == end && data[end-1] != '\n' {
			to, _ = w.dfa.run(to, []byte{'\n'})
		}
		row = max(to, start)
		if to == hit || to == hitEnd {
			w.addHit(pos)
		}
		if to == hit || to == dead {
			pos = lineEnd(data[:end], pos)
		}
		if to < start {
			pos++
		}
	}
	return true
}
