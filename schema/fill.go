package schema

import (
	"math"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// ApplyDefaults returns data with the schema's defaults filled in: every object gets the
// defaults of the properties that it lacks, after its own members. Null counts
// as lacking if the schema does not allow it. Everything else keeps its bytes.
// If data has an array or object, ApplyDefaults does not add elements or members of that
// property's default to it.
//
// Defaults are found through properties, additionalProperties, items,
// prefixItems and local references. Data must be valid. If nothing is filled
// in, ApplyDefaults returns data itself.
func (s *Schema) ApplyDefaults(data []byte) []byte {
	if s.defaults == nil { // a Schema that was never read
		return data
	}
	d := s.defaults()
	if d == nil {
		return data
	}
	f := filler{Scanner: jsontree.Scanner{Data: data}, limit: math.MaxInt}
	if !f.value(d) {
		return data
	}
	return f.end()
}

// A filler copies JSON, and adds defaults.
type filler struct {
	jsontree.Scanner
	out    []byte // data before copied, filled
	copied int
	depth  int

	settle func(*slot) // nil if all defaults are settled
	limit  int         // of what is still to be added
}

// end returns all of the data, filled.
func (f *filler) end() []byte {
	if f.out == nil {
		return f.Data
	}
	return append(f.out, f.Data[f.copied:]...)
}

// value reads a value and fills it. It returns false where the data ends early.
func (f *filler) value(d *defaults) bool {
	c := f.Peek()
	if d == nil || c != '{' && c != '[' {
		return f.Skip()
	}
	if f.depth++; f.depth > shape.MaxLevels {
		return false
	}
	f.Pos++
	ok := false
	if c == '{' {
		ok = f.object(d)
	} else {
		ok = f.array(d)
	}
	f.depth--
	return ok
}

func (f *filler) array(d *defaults) bool {
	if f.Peek() == ']' {
		f.Pos++
		return true
	}
	for i := 0; ; i++ {
		item := d.items
		if i < len(d.prefix) {
			item = d.prefix[i]
		}
		if !f.value(item) {
			return false
		}
		if more, ok := f.More(']'); !more {
			return ok
		}
	}
}

func (f *filler) object(d *defaults) bool {
	var few [64]bool
	present := few[:]
	if len(d.slots) > len(few) {
		present = make([]bool, len(d.slots))
	}
	empty := f.Peek() == '}'
	if empty {
		f.Pos++
	}
	for more := !empty; more; {
		name, ok := f.Name()
		if !ok {
			return false
		}
		i, known := d.index[string(name)]
		switch {
		case !known:
			ok = f.value(d.rest)
		default:
			present[i] = true
			ok = f.property(&d.slots[i])
		}
		if !ok {
			return false
		}
		if more, ok = f.More('}'); !ok {
			return false
		}
	}
	return f.missing(d, present, empty)
}

// property reads the value of a property; null may mean the default.
func (f *filler) property(p *slot) bool {
	if f.Peek() != 'n' || p.takesNull {
		return f.value(p.inside)
	}
	start := f.Pos
	if !f.Literal("null") {
		return false
	}
	value := f.defaultOf(p)
	if value == nil {
		return true
	}
	ok := f.add(start, value)
	f.copied = f.Pos
	return ok
}

// missing adds the properties that are not present before the closing brace.
func (f *filler) missing(d *defaults, present []bool, empty bool) bool {
	closing := f.Pos - 1
	for i := range d.slots {
		if present[i] {
			continue
		}
		p := &d.slots[i]
		value := f.defaultOf(p)
		if value == nil {
			continue
		}
		if !empty && !f.add(closing, []byte{','}) {
			return false
		}
		empty = false
		if !f.add(closing, p.label) || !f.add(closing, value) {
			return false
		}
	}
	return true
}

func (f *filler) defaultOf(p *slot) []byte {
	if f.settle != nil {
		f.settle(p)
	}
	return p.value
}

// add writes the data up to a position, then text.
func (f *filler) add(at int, text []byte) bool {
	f.out = append(f.out, f.Data[f.copied:at]...)
	f.out = append(f.out, text...)
	f.copied = at
	f.limit -= len(text)
	return f.limit >= 0
}
