package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A part is a value in a definition, and the object or array that holds it.
type part struct{ value, in *jsontree.Value }

// isMember reports whether p is a member of an object.
func (p part) isMember() bool { return p.in != nil && p.in.Kind == jsontree.KindObject }

// start returns where p begins in what was parsed: the name, if it has one.
func (p part) start() int {
	if !p.isMember() {
		return p.value.Start
	}
	before := p.in.Start
	if i := slices.Index(p.in.Kids, p.value); i > 0 {
		before = part{value: p.in.Kids[i-1]}.end()
	}
	return before + bytes.IndexByte(p.in.Raw[before-p.in.Start:], '"')
}

func (p part) end() int { return p.value.Start + len(p.value.Raw) }

// find returns what a JSON pointer in v leads to. If there is none, ok is false
// and the part is the nearest around it.
func find(v *jsontree.Value, pointer string) (p part, ok bool) {
	p.value = v
	for _, token := range strings.Split(pointer, "/")[1:] {
		next := p.value.At("/" + token)
		if next == nil {
			return p, false
		}
		p = part{next, p.value}
	}
	return p, true
}
