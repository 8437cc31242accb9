package grep

import (
	"slices"
	"sync/atomic"
)

// Effort is counted in bytes that look like the one of a literal but are not:
// each costs about as much as 8 bytes in the dfa.
const (
	check  = 60 // effort of a line that has the literal and is given to the dfa
	dense  = 8  // bytes of a block for each unit of effort; above it, the dfa is faster
	retry  = 16 // blocks after which a literal is tried again
	sample = 4 << 10
)

// A worker searches blocks. Nothing of it is shared.
type worker struct {
	pattern *Pattern
	dfa     *dfa
	finder  *finder // nil: the dfa alone
	fresh   bool    // the search begins: choose
	age     int     // blocks since that
	buf     []byte  // of a block that was read

	stop  *atomic.Bool
	keep  bool // where lines match, and how many there are
	lines int
	hits  []int // where in the block it is known that a line matches
	count int
}

func newWorker(p *Pattern) *worker {
	return &worker{pattern: p, dfa: newDFA(newMachine(p.prog))}
}

// begin prepares for a search.
func (w *worker) begin(stop *atomic.Bool) {
	w.stop, w.fresh, w.dfa.loose = stop, true, false
}

func (w *worker) stopped() bool { return w.stop.Load() }

func (w *worker) found(at int) {
	w.count++
	if w.keep {
		w.hits = append(w.hits, at)
	}
}

// block finds the lines of data that match. It returns false if the search was
// stopped.
func (w *worker) block(data []byte, keep bool) bool {
	w.keep, w.hits, w.count = keep, w.hits[:0], 0
	w.age++
	again := w.fresh && len(data) >= sample || w.finder == nil && (w.fresh || w.age > retry)
	if again && len(w.pattern.literals) > 0 {
		w.choose(data)
	}
	w.fresh = false
	if w.lines = 0; keep {
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
	size := min(len(data), 16<<10)
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
		if w.stopped() {
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
			w.found(at + len(f.low))
		} else {
			f.effort -= check
			begin := max(pos, lineStart(data, at))
			if n := w.dfa.find(data[begin:end]); n >= 0 {
				w.found(begin + n)
			}
		}
		pos = end + 1
	}
	return true
}
