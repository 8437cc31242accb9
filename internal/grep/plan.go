package grep

import (
	"slices"
	"sync/atomic"
)

// Effort is counted in bytes that look like the one of a literal but are not:
// each costs about as much as 8 bytes in the dfa.
const (
	check    = 60      // effort of a line that has the literal and is given to the dfa
	dense    = 8       // bytes of a block for each unit of effort; above it, the dfa is faster
	retry    = 16      // blocks after which it is chosen again what is looked for
	sample   = 4 << 10 // bytes for which they are counted
	frequent = 1024    // a byte is if there is more than one in so many: then a pair is faster
	paired   = 5       // of the bytes of a literal, the rarest, are tried as a pair
)

// A worker searches blocks. Nothing of it is shared.
type worker struct {
	pattern *Pattern
	dfa     *dfa
	finder  *finder // nil: the dfa alone
	age     int     // blocks since that was chosen
	buf     []byte  // of a block that was read

	stop  *atomic.Bool
	keep  bool // where lines match, and how many there are
	lines int
	hits  []int // where in the block it is known that a line matches
	count int
}

func newWorker(p *Pattern) *worker {
	return &worker{pattern: p, dfa: newDFA(newMachine(p.prog)), age: retry}
}

// begin prepares for a search.
func (w *worker) begin(stop *atomic.Bool) {
	w.stop, w.dfa.loose = stop, false
}

// buffer returns what a block is read into.
func (w *worker) buffer() []byte {
	if w.buf == nil {
		w.buf = make([]byte, blockSize)
	}
	return w.buf
}

func (w *worker) isStopped() bool { return w.stop.Load() }

func (w *worker) addHit(at int) {
	w.count++
	if w.keep {
		w.hits = append(w.hits, at)
	}
}

// block finds the lines of data that match. It returns false if the search was
// stopped.
func (w *worker) block(data []byte) bool {
	w.hits, w.count = w.hits[:0], 0
	if w.age += 1 + len(data)/blockSize; w.age > retry && len(w.pattern.literals) > 0 {
		w.choose(data)
	}
	if w.lines = 0; w.keep {
		w.lines = lineFeeds(data)
	}
	done := false
	if w.finder == nil {
		done = w.scan(data, 0)
	} else {
		done = w.literal(data)
	}
	slices.Sort(w.hits)
	return done
}

func (w *worker) choose(data []byte) {
	size := min(len(data), 4*sample)
	f, effort := choose(w.pattern.literals, w.pattern.exact, data[:size])
	if w.finder = f; effort > size/dense+check {
		w.finder = nil
	}
	w.age = 0
}

// literal searches data by a literal, until that becomes slower than the dfa.
func (w *worker) literal(data []byte) bool {
	f := w.finder
	f.begin(len(data)/dense + check)
	for pos := 0; pos < len(data); {
		if w.isStopped() {
			return false
		}
		at, up := f.next(data, pos)
		if up == len(data) {
			return true
		}
		if f.effort < 0 {
			from := lineStart(data, up)
			w.choose(data[from:])
			return w.scan(data, from)
		}
		end := lineEnd(data, at)
		if w.pattern.exact {
			w.addHit(at + len(f.low))
		} else {
			f.effort -= check
			begin := max(pos, lineStart(data, at))
			if n := w.dfa.find(data[begin:end]); n >= 0 {
				w.addHit(begin + n)
			}
		}
		pos = end + 1
	}
	return true
}
