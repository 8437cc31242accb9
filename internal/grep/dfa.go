package grep

import (
	"encoding/binary"
	"slices"
)

// Limits of the states that a dfa keeps: 1 KiB of table for each, and the sets.
const (
	maxStates = 2048
	maxSets   = 1 << 18 // instructions in all sets
)

// A dfa remembers the steps of its machine in a table: one row for each state,
// with the row that follows for each byte. It is built while it runs.
type dfa struct {
	machine
	table  []uint32
	states []state // by row
	rows   map[string]uint32
	sets   int
	fed    int  // bytes since the table was empty
	loose  bool // states come faster than they are used: the machine runs without the table
	key    []byte
	next   state
}

func newDFA(m machine) *dfa {
	d := &dfa{machine: m, rows: map[string]uint32{}}
	d.reset()
	return d
}

func (d *dfa) reset() {
	clear(d.rows)
	clear(d.states)
	d.table = append(d.table[:0], make([]uint32, start)...)
	d.states = append(d.states[:0], make([]state, start>>8)...)
	d.sets, d.fed = 0, 0
	d.add(&state{begin: true}, nil)
}

// build finds the row that follows live[i] for b. Where the table is full it
// begins a new one, with the states that are live.
func (d *dfa) build(live []uint32, i int, b byte) uint32 {
	d.load(live[i])
	to := d.step(&d.next, b)
	if to == unknown {
		to = d.add(&d.next, live)
	}
	d.table[live[i]|uint32(b)] = to
	return to
}

// load makes the state of a row the next one.
func (d *dfa) load(row uint32) {
	s := &d.states[row>>8]
	d.next = state{append(d.next.set[:0], s.set...), s.rest, s.begin, s.word}
}

func (d *dfa) add(s *state, live []uint32) uint32 {
	d.key = append(d.key[:0], byte(len(s.rest)), flag(s.begin), flag(s.word))
	d.key = append(d.key, s.rest...)
	for _, pc := range s.set {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if row, ok := d.rows[string(d.key)]; ok {
		return row
	}
	if len(d.states) >= maxStates || d.sets > maxSets {
		d.loose = d.loose || d.fed < 10*len(d.states)
		d.renew(live)
		return d.add(s, nil)
	}
	row := uint32(len(d.table))
	d.table = append(d.table, make([]uint32, 256)...)
	d.states = append(d.states, state{slices.Clone(s.set), s.rest, s.begin, s.word})
	d.rows[string(d.key)] = row
	d.sets += len(s.set)
	return row
}

func (d *dfa) renew(live []uint32) {
	kept := make([]state, len(live))
	for i, row := range live {
		kept[i] = d.states[row>>8]
	}
	d.reset()
	for i := range kept {
		live[i] = d.add(&kept[i], nil)
	}
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// run goes through data from row on. It stops behind data, or at the byte that
// decides on a line; it returns the row there.
func (d *dfa) run(row uint32, data []byte) (uint32, int) {
	for i := 0; i < len(data); i++ {
		if d.loose {
			return d.walk(row, data, i)
		}
		to := d.table[row|uint32(data[i])]
		for to >= start && i+1 < len(data) {
			i++
			row, to = to, d.table[to|uint32(data[i])]
		}
		if to == unknown {
			live := []uint32{row}
			to = d.build(live, 0, data[i])
		}
		if to < start {
			d.fed += i
			return to, i
		}
		row = to
	}
	d.fed += len(data)
	return row, len(data)
}

// walk is run from i on, without the table.
func (d *dfa) walk(row uint32, data []byte, i int) (uint32, int) {
	d.load(row)
	for ; i < len(data); i++ {
		switch to := d.step(&d.next, data[i]); to {
		case unknown:
		case start:
			d.load(start)
		default:
			return to, i
		}
	}
	return d.add(&d.next, nil), i
}

// find returns where in a line, without its end, a match is known; -1 if there is none.
func (d *dfa) find(line []byte) int {
	row, i := d.run(start, line)
	if i == len(line) {
		row, _ = d.run(row, []byte{'\n'})
	}
	if row == hit || row == hitEnd {
		return min(i, len(trim(line)))
	}
	return -1
}
